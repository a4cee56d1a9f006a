using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Coordinator.Views;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Leads one connection of the app from its hello to its end: checks who it is, lets it begin, and takes it through its stages; what it
/// emits, and what it asks for, goes on to the modules that it is for. Two threads: the one that reads the app calls the
/// <see cref="IAppFrames"/> side, the one that sends to it calls <see cref="TryTake"/>; what both touch is under one lock.
/// </summary>
internal sealed class AppSession(
    AppSessionRegistry sessions, AppOutputs outputs, AppControl control, AppFeed feed, ulong number, Action wakeSender)
    : IAppFrames, IViewedApp
{
    /// <summary>So many bytes cost less to send than to change threads for.</summary>
    private const ulong LittleBytesMax = 32 * 1024;

    private readonly RankedLock _gate = new(LockRank.AppSession);

    private readonly AppGreeting _greeting = new();
    private AppStage _stage; // written under the lock, by the thread that reads the app but for one step of the one that sends

    /// <summary>
    /// When everything below this has been delivered, the app is told to become primary; null: this replica is a secondary.
    /// </summary>
    private Lsn? _target;

    public ulong Number { get; } = number;

    /// <summary>The app was told that another version goes on: nothing more is for it, or expected of it.</summary>
    public bool HasGivenWay => _greeting.HasGivenWay;

    /// <summary>The session ended by its own Goodbye, with this reason.</summary>
    public string? EndReason { get; private set; }

    /// <summary>The hello was accepted.</summary>
    public bool HasBegun { get { using (_gate.Enter()) return !IsGreeting; } }

    /// <summary>The app has not said all that it says before it is answered, or it was not answered yet.</summary>
    private bool IsGreeting => _stage is AppStage.AwaitHello or AppStage.AwaitMethods;

    public bool IsPrimary { get { using (_gate.Enter()) return _stage == AppStage.Primary; } }

    /// <summary>The app was told to become primary and has not answered yet.</summary>
    public bool IsBecomingPrimary { get { using (_gate.Enter()) return _stage == AppStage.BecomingPrimary; } }

    public bool IsEnded { get { using (_gate.Enter()) return _stage == AppStage.Ended; } }

    /// <summary>The stage, for operators.</summary>
    public string StageName { get { using (_gate.Enter()) return AppStages.NameOf(_stage); } }

    /// <summary>There may be something to take: what a sender looks at before it waits.</summary>
    public bool HasOutput
    {
        get
        {
            using (_gate.Enter())
            {
                if (_stage == AppStage.Ended) return false;
                if (_greeting.Conversion is { } conversion) return conversion.HasOutput;
                if (feed.HasControl) return true;
                if (IsGreeting) return false;
                if (feed.Ends is not null) return control.Apps!.Rebuild.MayHaveNext;
                return feed.HasRecords || (Target is { } all && feed.Next >= all && control.Upgrade?.Round.MayHaveNext(all) != false);
            }
        }
    }

    /// <summary>
    /// What comes next is decided where everything below this has been delivered: that the app becomes primary, or that the state of a
    /// primary's app is converted. Null: nothing is to be decided.
    /// </summary>
    private Lsn? Target => _stage switch
    {
        AppStage.Replaying => _target,
        AppStage.Primary when control.Upgrade is { Round.IsCalled: true } => feed.Next,
        _ => null
    };

    /// <summary>
    /// It is primary, and what waits for it is less than changing threads would cost. Of log bytes; replay is never little.
    /// </summary>
    public bool HasLittle => IsPrimary && feed.BytesLeft <= LittleBytesMax && _greeting.UpgradedBy is not { IsGivenUp: false };

    // ---- what the app sends ----

    public AppReader NewReader() => outputs.NewReader(this);

    /// <summary>
    /// The limit is small until it is known who speaks; then it is what any limit allows, since replay says again what an earlier one
    /// did (P2.3).
    /// </summary>
    public uint PayloadBytesMax =>
        _stage == AppStage.AwaitHello ? SizeLimits.ControlBytesMax
        : _stage == AppStage.AwaitMethods ? BuildMethodsFrame.BytesMax : SizeLimits.PayloadBytesMax(SizeLimits.MessageBytesMaxLimit);

    public bool IsStranger => _stage == AppStage.AwaitHello;

    /// <summary>
    /// An app that has shown its token waits while another session is live: that one's app may be dead and its last bytes still on the way.
    /// The pump ends this patience, and then the app is refused. Set before the hello, ended by the thread that reads the app.
    /// </summary>
    public bool IsPatient { get => _greeting.IsPatient; set => _greeting.IsPatient = value; }

    /// <summary>What the app says of itself; null: it has said nothing that was accepted.</summary>
    public AppHello? App => _greeting.App;

    /// <summary>
    /// What the app says to itself, a digest or a decision found no room in the log: the pump waits before it receives more.
    /// </summary>
    public bool LogWaits { get; private set; }

    public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
    {
        if (IsGreeting || _stage == AppStage.Ended) throw new ProtocolViolation("P2.4", "run before the hello");
        if (_greeting.Conversion is not null) throw new ProtocolViolation("P5.25", "a run of an app that only converts");
        return outputs.Take(block, frameAt, run, runBytes, _stage);
    }

    public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload)
    {
        if (_stage == AppStage.AwaitHello && type != FrameType.AppHello) throw new ProtocolViolation("P2.4", $"{type} before the hello");
        if ((_stage == AppStage.AwaitMethods) != (type == FrameType.BuildMethods))
            throw new ProtocolViolation("P5.23", $"{type} where {(IsGreeting ? "the methods of a build" : "anything else")} must stand");
        if (_greeting.Conversion is { } conversion && type != FrameType.Goodbye) return conversion.Take(type, payload, wakeSender);
        switch (type)
        {
            case FrameType.AppHello: return Hello(AppHello.Read(payload));
            case FrameType.BuildMethods:
                AppHello hello = _greeting.App!;
                _greeting.Methods ??= control.Contracts.KeepMethods(hello.Build!.Value, BuildMethodsFrame.Read(payload));
                return Begin(hello, _greeting.Methods);
            case FrameType.Destination: outputs.Declare(DestinationFrame.Read(payload)); return ReadAnswer.More;
            case FrameType.PrimaryReady: PrimaryReady(Protocol.Frames.PrimaryReady.Read(payload)); return ReadAnswer.More;
            case FrameType.Goodbye: throw Left(Goodbye.Read(payload));
            default: return control.Take(type, payload, _stage, wakeSender);
        }
    }

    public void Pause(bool drained)
    {
        if (_greeting.IsBeside) return;
        LogWaits = !(outputs.TryLog() & control.TryLogDecisions() | outputs.IsLogShut); // a state to be converted may come behind
        outputs.TellLinks();
        outputs.WakeCommitter(drained);
    }

    /// <summary>First who speaks: a stranger neither waits for anything nor learns anything.</summary>
    private ReadAnswer Hello(AppHello hello)
    {
        if (_stage != AppStage.AwaitHello) throw new ProtocolViolation("P2.4", "second hello");
        if (sessions.Admission.WhatIsWrong(hello) is { } wrong) throw Refuse(wrong);
        _greeting.App = hello;
        if (hello.Build is null) return Begin(hello, null);
        using (_gate.Enter()) _stage = AppStage.AwaitMethods;
        return ReadAnswer.More;
    }

    /// <summary>All that an app says before it is answered is there.</summary>
    private ReadAnswer Begin(AppHello hello, BuildMethods? methods)
    {
        try
        {
            if (sessions.Admission.WhatIsWrong(hello) is { } over) throw Refuse(over); // the upgrade that it waited for was given up
            if (IsBeside(hello, methods)) return TryBeginConversion() ? ReadAnswer.More : ReadAnswer.LogUnread;
            if (IsPatient && sessions.Live is not null) return ReadAnswer.AppIsLive;
            if (sessions.TryBegin(this, hello, methods, out string? why)) return ReadAnswer.More;
            return why is null ? ReadAnswer.LogUnread : throw Refuse(why);
        }
        catch (Exception other) when (other is AppVersionException or FormerVersionMissingException or RedeployRefusedException
            or UpgradeRefusedException or OtherServiceException or UnrestorableException)
        {
            Send(new Goodbye(GoodbyeCode.Refused, other.Message));
            throw;
        }
        catch (AppNotWantedException other)
        {
            var goodbye = new Goodbye(GoodbyeCode.CleanStop, other.Message);
            Send(goodbye);
            throw new AppLeftException(goodbye);
        }
    }

    /// <summary>
    /// Says whether it is the new app of an upgrade that has to wait, or to convert, while the old one executes the log or ends.
    /// </summary>
    private bool IsBeside(AppHello hello, BuildMethods? methods)
    {
        AppTokens tokens = control.Upgrades.Tokens;
        if (tokens.IsNext(hello.Token)) RequireNext(sessions.Admission.WhatIsWrongInPlace(hello, methods, sessions.App), hello);
        if (control.Apps is not { } apps || tokens.IsOld(hello.Token)) return false;
        try
        {
            sessions.Admission.RequireNext(hello, methods);
        }
        catch (UpgradeRefusedException other) when (control.Upgrades.InPlace.TryGiveUp(other.Message))
        {
            throw Refuse(other.Message); // the app that serves goes on
        }
        apps.Handover.Came(hello);
        return _greeting.IsBeside = !apps.Pair.IsNewWanted || sessions.Live is not null;
    }

    /// <summary>The app that is to take the running one's place has come: the upgrade goes on with it, or is refused.</summary>
    /// <exception cref="AppLeftException">It is refused.</exception>
    private void RequireNext(string? wrong, AppHello hello)
    {
        if (wrong is not null) control.Upgrades.InPlace.Refuse(wrong);
        else if (!control.Upgrades.InPlace.TryMeet(hello)) wrong = "the upgrade that it came for was given up";
        if (wrong is not null) throw Refuse(wrong);
    }

    private bool TryBeginConversion()
    {
        if (control.TryBeginConversion(state => sessions.WelcomeOf(state, Number)) is not { } conversion) return false;
        using (_gate.Enter()) (_greeting.Conversion, _stage) = (conversion, AppStage.Replaying);
        wakeSender();
        return true;
    }

    private AppLeftException Refuse(string why)
    {
        Send(new Goodbye(GoodbyeCode.Refused, why));
        return new AppLeftException(new Goodbye(GoodbyeCode.Refused, why));
    }

    /// <summary>The session is the instance's: it gets the welcome, the image and the log from there.</summary>
    public void Begin(AppWelcome welcome, CheckpointImage? image)
    {
        outputs.BeginSession();
        using (_gate.Enter())
        {
            feed.Begin(welcome, image);
            _stage = AppStage.Replaying;
        }
        wakeSender();
    }

    /// <summary>
    /// This replica has the log: the app is primary once it has executed what is below <paramref name="durable"/>. The first call counts.
    /// </summary>
    public void BecomePrimary(Lsn durable)
    {
        using (_gate.Enter()) _target ??= durable;
        wakeSender();
    }

    private void PrimaryReady(PrimaryReady ready)
    {
        if (_stage != AppStage.BecomingPrimary || ready.Position != _target)
            throw new ProtocolViolation("P5.10", $"PrimaryReady for {ready.Position}");
        using (_gate.Enter()) _stage = AppStage.Primary;
        sessions.Ready(this);
        control.BecomePrimary();
        outputs.PushSelf();
    }

    /// <summary>An app that contradicts the log would do so again: the process ends too. One beside it has executed nothing.</summary>
    private Exception Left(Goodbye goodbye)
    {
        if (goodbye.Code == GoodbyeCode.Divergence && !_greeting.IsBeside)
            return new DivergenceException($"the app contradicts the log: {goodbye.Why}");
        if (goodbye.WhyUnrestorable is { } why && !_greeting.IsBeside) sessions.CannotRestore(this, why);
        return new AppLeftException(goodbye);
    }

    // ---- what the app gets ----

    /// <summary>
    /// The next bytes for the app: what its feed has, and at the end of what it has to execute that it is to become primary.
    /// </summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        using (_gate.Enter())
        {
            bytes = default;
            if (_stage == AppStage.Ended) return false;
            if (_greeting.Conversion is { } conversion) return conversion.TryTake(out bytes);
            if (feed.TryTakeControl(out bytes)) return true;
            if (IsGreeting) return false;
        }
        if (feed.TryTake(out bytes)) return true;
        if (feed.Ends is { } upgrade) return TryGiveWay(upgrade, out bytes);
        if (_stage != AppStage.Replaying && control.Upgrade is not { Round.IsCalled: true }) return false;
        using (_gate.Enter())
        {
            if (Target is not { } all || feed.Next < all) return false;
            UpgradeRound? round = control.Upgrade?.Round;
            UpgradeStep first = round?.Next(all, App!) ?? default;
            if (first.Waits) return false;
            if (first.Target is { } more)
            {
                if (_stage == AppStage.Replaying) _target = more;
                return false;
            }
            if (first.Convert is { } convert)
            {
                if (_stage == AppStage.Primary) _greeting.UpgradedBy = round;
                feed.Write(convert);
                return feed.TryTakeControl(out bytes);
            }
            if (_stage == AppStage.Primary) return false; // the upgrade is over, and it goes on
            _stage = AppStage.BecomingPrimary;
            feed.BecomePrimary(all);
            return feed.TryTakeControl(out bytes);
        }
    }

    /// <summary>The app has been given all that its version executes: another one goes on, as soon as it can begin.</summary>
    private bool TryGiveWay(UpgradeRecord upgrade, out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        GiveWayStep step = control.Apps!.Rebuild.Next(upgrade);
        if (step.Ends)
        {
            feed.Write(new Goodbye(GoodbyeCode.CleanStop, $"version {upgrade.VersionTo} goes on"));
            _greeting.HasGivenWay = true;
        }
        else if (step.Convert is { } convert) feed.Write(convert);
        else return false;
        return feed.TryTakeControl(out bytes);
    }

    /// <summary>What <see cref="TryTake"/> gave is sent.</summary>
    public void Taken() => feed.Taken();

    public void Send<T>(T frame) where T : IFramePayload<T>
    {
        if (_greeting.Conversion is { } conversion) conversion.Send(frame);
        else feed.Write(frame);
        wakeSender();
    }

    public void SendHeartbeat()
    {
        using (_gate.Enter())
        {
            if (IsGreeting || _greeting.Conversion is not null) return; // the welcome comes first
            feed.WriteEmpty(FrameType.Heartbeat);
        }
        wakeSender();
    }

    void IViewedApp.Send(Look look) => Send(look);

    void IViewedApp.Go()
    {
        feed.WriteEmpty(FrameType.Go);
        wakeSender();
    }

    void IViewedApp.Ask(in QueryFrame query)
    {
        feed.Ask(query);
        wakeSender();
    }

    void IViewedApp.Convert(ConvertFrame convert) => Send(convert);

    void IViewedApp.BeginAgain() => Send(new Goodbye(GoodbyeCode.Again, "the log is executed again"));

    /// <summary>Durable inputs are there to be delivered.</summary>
    public void Wake() => wakeSender();

    /// <summary>The connection is over; both its threads have stopped.</summary>
    public void End(string why)
    {
        using (_gate.Enter())
        {
            if (_stage == AppStage.Ended) return;
            _stage = AppStage.Ended;
            EndReason = why;
        }
        feed.End();
        _greeting.Conversion?.End();
        sessions.Ended(this);
    }
}
