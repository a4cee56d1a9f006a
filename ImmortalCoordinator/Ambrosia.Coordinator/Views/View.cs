using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Views;

/// <summary>
/// An execution of the log for somebody who looks at it, by an app that is no replica's (protocol P5.24): nothing that the app does gets
/// out, no checkpoint is taken, and any build may execute it. A view says where a session begins, how far it is given the log, and hears
/// what the app does. The thread that reads the app, but where a member says otherwise.
/// </summary>
/// <param name="keepsOutputs">See <see cref="KeepsOutputs"/>.</param>
internal abstract class View(bool keepsOutputs = false)
{
    /// <summary>A session begins with the newest checkpoint at or below this place. Any thread.</summary>
    public abstract Lsn BeginsBelow { get; }

    /// <summary>Each record is given by itself, so that the app reports at each.</summary>
    public virtual bool IsOneByOne => false;

    /// <summary>What the app has emitted is kept until the log says that it was received; else it is dropped at once.</summary>
    public bool KeepsOutputs { get; } = keepsOutputs;

    /// <summary>The log is a masked cut: hashes in it say nothing of what was called (log-format L1.8).</summary>
    public bool IsOfMaskedCut { get; init; }

    /// <summary>A session begins from this place.</summary>
    public virtual void Begin(IViewedApp app, Lsn from) { }

    /// <summary>This app's session has ended.</summary>
    public virtual void Ended(IViewedApp app) { }

    /// <summary>Says whether the page at a place may be given. The thread that sends to the app.</summary>
    /// <param name="executed">The app has executed all that it was given, up to here; null: not all of it.</param>
    public virtual bool MayGive(Lsn page, Lsn? executed) => true;

    /// <summary>The log has nothing more to give, and the app has executed all of it. The thread that sends to the app.</summary>
    /// <param name="executed">It has reported so much.</param>
    public virtual void AtEnd(Lsn executed) { }

    /// <summary>The app has made calls.</summary>
    /// <param name="before">So many went there before.</param>
    public abstract void Emitted(InstanceId to, ulong before, in RunView run);

    /// <summary>The app has answered callers outside.</summary>
    /// <param name="before">So many answers came before since the log began.</param>
    public virtual void Answered(ulong before, in RunView run) { }

    /// <summary>The app has executed everything below.</summary>
    public abstract void Executed(Lsn lsn);

    /// <summary>
    /// The log at a place was removed before the app was given it; returns why the view is over, null: its app may begin again. Any thread.
    /// </summary>
    public virtual string? WhenTruncated(Lsn next) => null;

    /// <summary>Hears that the app does not do what the log says; false: that ends the session. Any thread.</summary>
    public virtual bool Tolerates(string divergence) => false;

    /// <summary>Takes what the app says of a state that it was given to convert; false: no state was. Any thread.</summary>
    public virtual bool TryTake(ConvertedFrame answer) => false;

    /// <summary>Takes a frame of the app, if it answers what the view has asked for; false: it is for others.</summary>
    /// <exception cref="ProtocolViolation">P5.7 or P5.24.</exception>
    public virtual bool TryTake(FrameType type, ReadOnlySpan<byte> payload) => false;
}

/// <summary>Tells the app of a view what to do. Any thread.</summary>
internal interface IViewedApp
{
    /// <summary>It is what the app says of itself.</summary>
    AppHello? App { get; }

    /// <summary>Says why its session has ended; null: it has not.</summary>
    string? EndReason { get; }

    /// <summary>Tells it where to stop.</summary>
    void Send(Look look);

    /// <summary>Tells it to go on from where it has stopped.</summary>
    void Go();

    /// <summary>Asks it a query.</summary>
    void Ask(in QueryFrame query);

    /// <summary>Asks it for its state as another version has it.</summary>
    void Convert(ConvertFrame convert);

    /// <summary>Ends its session; its process begins another.</summary>
    void BeginAgain();

    /// <summary>It may be given more of the log now.</summary>
    void Wake();
}
