// An app's side of the app channel (protocol P5) as a part: frames in, frames out. It executes records, answers marks, takes and restores
// checkpoints; it never waits, reads no clock, starts no thread. Pumps, or a simulator, feed it and take its output.
// Thread: one, which runs all handlers, for everything but TryTakeOutput and OutputTaken (one thread at a time, any).
using System.Globalization;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>One session of an immortal with its coordinator.</summary>
public sealed class ImmortalSession
{
    private const ushort ProtocolVersion = 1;

    private readonly ImmortalDefinition definition;
    private readonly SessionOptions options;
    private readonly OutboundBuffer outbound = new();
    private readonly ImpulseOutbox impulses;
    private uint payloadBytesMax = Frames.ControlBytesMax;
    private Conversation? conversation;
    private ImageInbox? image;

    /// <summary>The next output to take is from the impulses: they were swapped in before the scheduler's output was found empty.</summary>
    private bool takingImpulses;

    /// <summary>Begins with AppHello in the output.</summary>
    public ImmortalSession(ImmortalDefinition definition, SessionOptions options)
    {
        this.definition = definition;
        this.options = options;
        impulses = new ImpulseOutbox(options.ImpulseBytesMax);
        outbound.Write(Hello());
    }

    public SessionState State { get; private set; } = SessionState.AwaitingWelcome;

    /// <summary>Null until <see cref="State"/> is Ended.</summary>
    public SessionEnd? End { get; private set; }

    /// <summary>What the coordinator said first; null before.</summary>
    public AppWelcome? Welcome => conversation?.Welcome;

    /// <summary>It has been told to become primary.</summary>
    internal bool IsPrimary => conversation?.Runtime.IsPrimary ?? false;

    /// <summary>Every record below is executed.</summary>
    public Lsn Executed => conversation?.Progress.Executed ?? Lsn.Zero;

    /// <summary>The immortal; null before the first record or the image. For tests and tools; its handlers own it.</summary>
    public Immortal? Immortal => conversation?.Runtime.Immortal;

    /// <summary>Forks and impulses whose handlers failed and that were only counted.</summary>
    public long FailedForks => conversation?.Runtime.Forks.Counted ?? 0;

    /// <summary>Forks and impulses that are set aside now.</summary>
    public int MessagesSetAside => conversation?.Runtime.Forks.Quarantine.Messages.Count ?? 0;

    /// <summary>Results that answered no outstanding call.</summary>
    public long DroppedResults => conversation?.Runtime.Calls.Dropped ?? 0;

    /// <summary>Timers that were said to be due and did not wait, or not for that: each fires once.</summary>
    public long IgnoredTimers => conversation?.Runtime.Timers.Ignored ?? 0;

    /// <summary>Results of tasks that had one already: the first counts.</summary>
    public long IgnoredResults => conversation?.Runtime.Tasks.Ignored ?? 0;

    /// <summary>Numbers of the tasks that have no result yet.</summary>
    internal IEnumerable<ulong> OutstandingTasks => conversation?.Runtime.Tasks.All.Select(static task => task.Number) ?? [];

    /// <summary>Awaited impulses that were under way when the session ended: who awaits them is told that their fate is unknown.</summary>
    internal int LostImpulses { get; private set; }

    /// <summary>Bytes of output that wait to be taken.</summary>
    public long OutputBacklog => outbound.Backlog;

    /// <summary>Bytes of impulses that wait to be taken.</summary>
    public long ImpulseBacklog => impulses.Backlog;

    /// <summary>After a Feed that left bytes: bytes of the whole frame at their front, as far as known; at least 16.</summary>
    public int FrameBytes { get; private set; } = FrameHeader.Bytes;

    /// <summary>
    /// Called while handlers run, when closed runs wait in the output: with the backlog in bytes. A pump wakes its
    /// sender, or waits at a bound.
    /// </summary>
    public Action<long>? OutputClosed
    {
        get => outbound.Closed;
        set => outbound.Closed = value;
    }

    /// <summary>
    /// Called on a sender's thread when impulses fill their bound; returns when some were taken. Null: a full outbox is an error there.
    /// </summary>
    public Action? WaitForImpulseRoom { get; set; }

    /// <summary>Called on a sender's thread when an impulse waits to be taken.</summary>
    public Action? ImpulseAdded { get; set; }

    /// <summary>
    /// Executes the whole frames at the front of <paramref name="bytes"/>; the rest is to be fed again with more behind it. Handlers may be
    /// given views on <paramref name="bytes"/>, valid until it returns.
    /// </summary>
    /// <returns>Bytes consumed. When the session has ended, <see cref="End"/> says why.</returns>
    public int Feed(ReadOnlyMemory<byte> bytes)
    {
        int consumed = 0;
        try
        {
            while (State != SessionState.Ended)
            {
                DecodeStatus status = FrameReader.TryRead(
                    bytes.Span[consumed..], 0, payloadBytesMax, checkPayload: false, out FrameHeader header, out _, out int size);
                if (status != DecodeStatus.Ok)
                {
                    FrameBytes = FrameHeader.Bytes + (int)header.Length;
                    break;
                }
                FrameTypes.Check(header.Type, FrameSender.Coordinator);
                Take(header.Type, bytes.Slice(consumed + FrameHeader.Bytes, size - FrameHeader.Bytes));
                consumed += size;
            }
        }
        catch (ProtocolViolation violation)
        {
            Finish(GoodbyeCode.ProtocolViolation, violation.Message);
        }
        catch (SuspendedCallsChangedException changed)
        {
            options.Log(changed.Message);
            Finish(GoodbyeCode.Refused, Short(changed));
        }
        catch (Diverged difference)
        {
            Finish(GoodbyeCode.Divergence, difference.Message);
        }
        catch (AppFailed failure)
        {
            options.Log(failure.ToString());
            Finish(GoodbyeCode.AppFailed, failure.Message);
        }
        return consumed;
    }

    /// <summary>All that was received has been fed: reports progress and makes all output ready to be taken.</summary>
    public void InputDry()
    {
        if (State == SessionState.Running) conversation!.Progress.Dry();
        outbound.Flush();
    }

    /// <summary>The connection is gone, or this side stops.</summary>
    public void Stop(GoodbyeCode code, string why) => Finish(code, why);

    /// <summary>A stretch of whole frames from the front of the output; it stays until it is taken, in pieces or at once.</summary>
    public bool TryTakeOutput(out ReadOnlyMemory<byte> bytes)
    {
        if (takingImpulses && impulses.TryTake(out bytes)) return true;
        takingImpulses = false;
        // Impulses are swapped out before the scheduler's output is looked at: the declaration of their destinations
        // is then in front of them.
        bool hasImpulses = impulses.TrySwap();
        if (outbound.TryTake(out bytes)) return true;
        if (!hasImpulses) return false;
        takingImpulses = true;
        return impulses.TryTake(out bytes);
    }

    public void OutputTaken(int count)
    {
        if (takingImpulses) impulses.Taken(count);
        else outbound.Taken(count);
    }

    private void Take(FrameType type, ReadOnlyMemory<byte> payload)
    {
        switch (type)
        {
            case FrameType.Heartbeat:
                Frames.ReadEmpty(type, payload.Span);
                break;
            case FrameType.Goodbye:
                Goodbye goodbye = Goodbye.Read(payload.Span);
                Finish(goodbye.Code, goodbye.Why, byCoordinator: true);
                break;
            case FrameType.AppWelcome when State == SessionState.AwaitingWelcome:
                Begin(AppWelcome.Read(payload.Span));
                break;
            case FrameType.ImageBegin when State == SessionState.AwaitingImage:
                image = new ImageInbox();
                image.Begin(ImageBegin.Read(payload.Span), Welcome!.Checkpoint);
                State = SessionState.ReceivingImage;
                break;
            case FrameType.ImageChunk when State == SessionState.ReceivingImage:
                image!.Add(ImageChunk.Read(payload.Span));
                break;
            case FrameType.ImageEnd when State == SessionState.ReceivingImage:
                conversation!.Restore(image!.End(ImageEnd.Read(payload.Span)));
                conversation.Runtime.Forks.SayAll();
                image = null;
                State = SessionState.Running;
                break;
            case FrameType.Deliver when State == SessionState.Running:
                conversation!.Deliver(payload);
                break;
            case FrameType.Query when State == SessionState.Running:
                conversation!.Answer(payload);
                break;
            case FrameType.PolicyAhead when State == SessionState.Running:
                conversation!.Runtime.Forks.Policies.Learn(PolicyAhead.Read(payload.Span));
                break;
            case FrameType.BecomePrimary when State == SessionState.Running:
                conversation!.Become(BecomePrimary.Read(payload.Span));
                break;
            case FrameType.ImpulseLogged when State == SessionState.Running:
                ImpulseLogged logged = ImpulseLogged.Read(payload.Span);
                impulses.Logged(logged.Destination, logged.Ticket);
                break;
            default:
                throw new ProtocolViolation("P2.4", $"{type} frame in state {State}");
        }
    }

    private void Begin(AppWelcome welcome)
    {
        if (welcome.Version != ProtocolVersion) throw new ProtocolViolation("P5.3", $"protocol version {welcome.Version}");
        payloadBytesMax = Frames.PayloadBytesMax(Frames.MessageBytesMaxLimit); // what an earlier limit allowed is in the log
        outbound.LimitMessages(welcome.MessageBytesMax);
        var door = new ImpulseDoor(impulses, outbound) { WaitForRoom = WaitForImpulseRoom, Added = ImpulseAdded };
        var runtime = new ImmortalRuntime(definition, welcome, outbound, door, options);
        conversation = new Conversation(welcome, runtime, options);
        State = welcome.HasImage ? SessionState.AwaitingImage : SessionState.Running;
    }

    private void Finish(GoodbyeCode code, string why, bool byCoordinator = false)
    {
        if (State == SessionState.Ended) return;
        State = SessionState.Ended;
        End = new SessionEnd(code, why, byCoordinator);
        if (!byCoordinator) outbound.Write(new Goodbye(code, why));
        outbound.Flush();
        LostImpulses = impulses.End(new InvalidOperationException(why));
        conversation?.Runtime.Tasks.End(); // behind the end of the output: what bodies report of their being stopped is dropped
    }

    /// <summary>What fits into a Goodbye (P5.12); the app's own lines say all.</summary>
    private static string Short(SuspendedCallsChangedException changed) =>
        $"this build cannot continue {changed.Refusals.Count} sorts of suspended calls of the checkpoint, the first: {(changed.Refusals[0] is { Length: > 600 } first ? first[..600] : changed.Refusals[0])}";

    private AppHello Hello() => new(
        ProtocolVersion, ProtocolVersion, options.Token, options.AppVersion, StateImage.Version,
        $"csharp/{typeof(ImmortalSession).Assembly.GetName().Version}", RuntimeInformation.FrameworkDescription,
        CultureInfo.CurrentCulture.Name, RuntimeInformation.ProcessArchitecture.ToString(), definition.ContractHash, options.ProcessId);
}
