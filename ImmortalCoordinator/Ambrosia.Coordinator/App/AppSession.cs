using System.Security.Cryptography;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// One connection of the app, from its hello to its end: checks who it is, gives it checkpoint and log, takes what it emits.
/// Owns the session's place in its life; what waits for the app is its <see cref="AppFeed"/>'s. Two threads: the one that reads the app
/// calls the <see cref="IAppFrames"/> side, the one that sends to it calls <see cref="TryTake"/>; what both touch is under one lock.
/// </summary>
internal sealed class AppSession(AppParts parts, ulong number, Action wakeSender) : IAppFrames
{
    private enum Stage { AwaitHello, Replaying, BecomingPrimary, Primary, Ended }

    private readonly Lock gate = new();
    private readonly AppFeed feed = new(parts);
    private readonly HashSet<Outbox> touched = [];
    private readonly List<PageNote> done = [];
    private Stage stage;
    private bool selfWaits, digestWaits, quarantineWaits;

    /// <summary>
    /// When everything below this has been delivered, the app is told to become primary; null: this replica is a secondary.
    /// </summary>
    private Lsn? target;

    public ulong Number { get; } = number;

    /// <summary>The session ended by its own Goodbye, with this reason.</summary>
    public string? EndReason { get; private set; }

    /// <summary>The hello was accepted.</summary>
    public bool HasBegun { get { lock (gate) return stage != Stage.AwaitHello; } }

    /// <summary>There may be something to take: what a sender looks at before it waits.</summary>
    public bool HasOutput
    {
        get
        {
            lock (gate)
            {
                if (stage == Stage.Ended) return false;
                if (feed.HasControl) return true;
                if (stage == Stage.AwaitHello) return false;
                Lsn next = parts.Delivery.Next;
                return next < parts.Replicated.Durable || (stage == Stage.Replaying && next >= target) || parts.Queries.HasReady(next);
            }
        }
    }

    /// <summary>
    /// It is primary, and what waits for it is less than changing threads would cost. Of log bytes; replay is never little.
    /// </summary>
    public bool HasLittle => IsPrimary && parts.Replicated.Durable.Value - parts.Delivery.Next.Value <= LittleBytesMax;

    private const ulong LittleBytesMax = 32 * 1024;

    public bool IsPrimary { get { lock (gate) return stage == Stage.Primary; } }

    /// <summary>How far the session is: waiting for its hello · replaying · becoming primary · primary · ended.</summary>
    public string StageName
    {
        get
        {
            lock (gate)
                return stage switch
                {
                    Stage.AwaitHello => "greeting",
                    Stage.Replaying => "replaying",
                    Stage.BecomingPrimary => "becoming primary",
                    Stage.Primary => "primary",
                    _ => "ended"
                };
        }
    }

    public bool IsEnded { get { lock (gate) return stage == Stage.Ended; } }

    public AppReader NewReader() => new(parts.Pool, this);

    /// <summary>
    /// Small until it is known who speaks; then what any limit allows, since replay says again what an earlier one did (P2.3).
    /// </summary>
    public uint PayloadBytesMax => stage == Stage.AwaitHello ? Frames.ControlBytesMax : Frames.PayloadBytesMax(Frames.MessageBytesMaxLimit);

    // ---- what the app sends ----

    public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
    {
        if (stage is Stage.AwaitHello or Stage.Ended) throw new ProtocolViolation("P2.4", "run before the hello");
        if (run.Header.IsClientAnswer) return Answers(block.Bytes.AsSpan(frameAt + FrameHeader.Bytes, runBytes));
        Outbox outbox = parts.Outboxes.Declared(run.Header.Peer);
        if (parts.MustWait(outbox, runBytes)) return ReadAnswer.OutboxFull;
        RunView.ReadWhole(block.Bytes.AsSpan(frameAt + FrameHeader.Bytes, runBytes), Frames.MessageBytesMaxLimit);
        if (run.Header.Kind == MessageKind.Impulse) TakeImpulses(outbox, block, frameAt, run, runBytes);
        else if (!run.Header.IsNumbered) throw new ProtocolViolation("P3.2", $"{run.Header.Kind} from the app");
        else
        {
            parts.Emitted(outbox, runBytes);
            parts.Retrial?.Emitted(outbox.Destination, outbox.Emitted.Number, run);
            if (!outbox.Append(block, frameAt, run, runBytes)) return ReadAnswer.More;
        }

        if (outbox != parts.Outboxes.Self) { touched.Add(outbox); return ReadAnswer.More; }
        selfWaits = !parts.SelfChannel.TryPush();
        return ReadAnswer.More;
    }

    /// <summary>They go to callers outside: in no outbox and in no hash, and nowhere at all from a secondary.</summary>
    private ReadAnswer Answers(ReadOnlySpan<byte> bytes)
    {
        RunView run = RunView.ReadWhole(bytes, Frames.MessageBytesMaxLimit);
        if (run.Header.Peer != 0 || run.Header.Shard != 0)
            throw new ProtocolViolation("P10.6", $"answers to a caller outside name destination {run.Header.Peer}");
        if (parts.IsLeading) parts.Answered(run);
        return ReadAnswer.More;
    }

    private void TakeImpulses(Outbox outbox, BlockPool.Block block, int frameAt, in RunView run, int runBytes)
    {
        if (stage is not (Stage.BecomingPrimary or Stage.Primary)) throw new ProtocolViolation("P5.10", "impulse before BecomePrimary");
        outbox.AppendImpulses(block, frameAt, run, runBytes, parts.EpochInForce());
    }

    /// <summary>False: no room in the log now; the same frame comes again.</summary>
    private bool TakeTaskResult(ReadOnlySpan<byte> payload)
    {
        if (stage is not (Stage.BecomingPrimary or Stage.Primary)) throw new ProtocolViolation("P5.15", "task result before BecomePrimary");
        ReadOnlySpan<byte> body = TaskResult.Read(payload, parts.MessageBytesMax);
        Crash.Hit("task.beforeAppend");
        if (!parts.Log.TryAppend(RecordKind.NondetResult, body, out _)) return false;
        Crash.Hit("task.afterAppend");
        return true;
    }

    public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload)
    {
        if (stage == Stage.AwaitHello && type != FrameType.AppHello) throw new ProtocolViolation("P2.4", $"{type} before the hello");
        switch (type)
        {
            case FrameType.AppHello: return Hello(AppHello.Read(payload));
            case FrameType.Destination:
                DestinationFrame destination = DestinationFrame.Read(payload);
                parts.Outboxes.Declare(destination.Index, destination.Destination);
                break;
            case FrameType.Processed: return Processed(ProcessedFrame.Read(payload).Position);
            case FrameType.PrimaryReady: PrimaryReady(Protocol.PrimaryReady.Read(payload)); break;
            case FrameType.ImageBegin:
                return parts.Checkpoints.Begin(ImageBegin.Read(payload),
                    (stage == Stage.Primary || !parts.IsLeading) && parts.Retrial is null, ReportProgress) ? ReadAnswer.More
                    : ReadAnswer.CheckpointFull;
            case FrameType.ImageChunk: return parts.Checkpoints.Chunk(payload) ? ReadAnswer.More : ReadAnswer.CheckpointFull;
            case FrameType.ImageEnd: return parts.Checkpoints.End(ImageEnd.Read(payload)) ? ReadAnswer.More : ReadAnswer.CheckpointFull;
            case FrameType.TimerSet: if (parts.Timers.Set(TimerSet.Read(payload))) parts.TimersChanged(); break;
            case FrameType.TimerDropped: parts.Timers.Drop(TimerDropped.Read(payload).Timer); break;
            case FrameType.TaskResult: return TakeTaskResult(payload) ? ReadAnswer.More : ReadAnswer.LogFull;
            case FrameType.QueryAnswer: QueryAnswered(QueryAnswerFrame.Read(payload, Frames.MessageBytesMaxLimit)); break;
            case FrameType.SetAside: SetAside(Protocol.SetAside.Read(payload)); break;
            case FrameType.Released: parts.Quarantine.Take(Released.Read(payload)); break;
            case FrameType.Waiting: CheckpointWaits(Waiting.Read(payload).Why); break;
            case FrameType.CheckpointWanted: Frames.ReadEmpty(type, payload); parts.CheckpointDuty.Request(parts.Log.Durable); break;
            case FrameType.Goodbye: throw Left(Goodbye.Read(payload));
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); break;
            default: throw new ProtocolViolation("P2.4", $"{type} from the app");
        }
        return ReadAnswer.More;
    }

    public void Pause(bool drained)
    {
        if (selfWaits) selfWaits = !parts.SelfChannel.TryPush();
        digestWaits = !parts.TryLogDigests();
        quarantineWaits = !parts.Quarantine.TryLog();
        TellTouched();
        parts.WakeCommitter(drained);
    }

    private void TellTouched()
    {
        if (touched.Count == 0) return;
        if (touched.Count >= OutputRound.OutboxesMin) parts.HaveOutput(touched);
        else
            foreach (Outbox outbox in touched) parts.HasOutput(outbox);
        touched.Clear();
    }

    /// <summary>The self channel, a digest or a decision found no room in the log: the pump waits for it before it receives more.</summary>
    public bool LogWaits => selfWaits || digestWaits || quarantineWaits;

    public bool IsStranger => stage == Stage.AwaitHello;

    /// <summary>
    /// An app that has shown its token waits while another session is live: that one's app may be dead and its last bytes still on the way.
    /// The pump ends this patience, and then the app is refused. Set before the hello, ended by the thread that reads the app.
    /// </summary>
    public bool IsPatient { get; set; }

    /// <summary>First who speaks: a stranger neither waits for anything nor learns anything.</summary>
    private ReadAnswer Hello(AppHello hello)
    {
        if (stage != Stage.AwaitHello) throw new ProtocolViolation("P2.4", "second hello");
        if (!CryptographicOperations.FixedTimeEquals(hello.Token.Span, parts.Token.Span)) throw Refuse("the token is wrong");
        if (hello.VersionMin > 1 || hello.VersionMax < 1)
            throw Refuse($"the app speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, this coordinator 1");
        if (IsPatient && parts.Live is not null) return ReadAnswer.AppIsLive;
        if (parts.TryBegin(this, hello, out string? why)) return ReadAnswer.More;
        return why is null ? ReadAnswer.LogUnread : throw Refuse(why);
    }

    private AppLeft Refuse(string why)
    {
        Send(new Goodbye(GoodbyeCode.Refused, why));
        return new AppLeft(new Goodbye(GoodbyeCode.Refused, why));
    }

    /// <summary>The session is the instance's: it gets the welcome, the image and the log from there.</summary>
    public void Begin(AppWelcome welcome, CheckpointImage? image)
    {
        lock (gate)
        {
            feed.Begin(welcome, image);
            stage = Stage.Replaying;
        }
        wakeSender();
    }

    private void QueryAnswered(in QueryAnswerFrame answer)
    {
        Crash.Hit("query.answered");
        if (parts.Queries.Answered(answer, parts.Progress.DeliveredTo)) wakeSender();
    }

    private void SetAside(SetAside message)
    {
        if (message.IsUnlogged && stage is not (Stage.BecomingPrimary or Stage.Primary))
            throw new ProtocolViolation("P5.16", "a decision to be logged before BecomePrimary");
        parts.Quarantine.Take(message);
    }

    /// <summary>An app that contradicts the log would do so again: the process ends too.</summary>
    private static Exception Left(Goodbye goodbye) =>
        goodbye.Code == GoodbyeCode.Divergence ? new DivergenceException($"the app contradicts the log: {goodbye.Why}")
        : new AppLeft(goodbye);

    /// <summary>P5.8: the image may come yet, or, if it cannot be written, never: the next mark tries again.</summary>
    private void CheckpointWaits(string why)
    {
        parts.CheckpointDuty.Failed($"the app cannot write it down yet: {why}");
        parts.Say($"checkpoint waits: {why}");
    }

    /// <summary>
    /// This replica has the log: the app is primary once it has executed what is below <paramref name="durable"/>. The first call counts.
    /// </summary>
    public void Lead(Lsn durable)
    {
        // On a full disk the first record of all may not be durable yet; the app begins with it before it can be anything.
        lock (gate) target ??= durable == Lsn.Zero ? new Lsn(1) : durable;
        wakeSender();
    }

    private ReadAnswer Processed(Lsn lsn)
    {
        ReportProgress(lsn);
        return ReadAnswer.More;
    }

    private void ReportProgress(Lsn lsn)
    {
        done.Clear();
        bool isMark = parts.Progress.Report(lsn, done);
        if (parts.Progress.TakeCut(lsn) is { } forgotten) parts.Cut(forgotten);
        if (isMark) parts.DigestAt(lsn);
        parts.Retrial?.Executed(lsn);
        foreach (PageNote note in done)
        {
            try
            {
                Trim(note);
            }
            catch (DivergenceException)
            {
                parts.Digests.Diverge(note.End);
                throw;
            }
        }
    }

    private void Trim(in PageNote note)
    {
        parts.Outboxes.Self.Trim(note.SelfNumber);
        foreach (OutboxTrim trim in note.Trims)
        {
            Crash.Hit("trim.before");
            trim.Outbox.Trim(trim.Number, trim.Generation);
            Crash.Hit("trim.after");
        }
    }

    private void PrimaryReady(PrimaryReady ready)
    {
        if (stage != Stage.BecomingPrimary || ready.Position != target)
            throw new ProtocolViolation("P5.10", $"PrimaryReady for {ready.Position}");
        lock (gate) stage = Stage.Primary;
        parts.BecamePrimary(this);
        parts.TimersChanged();
        selfWaits = !parts.SelfChannel.TryPush();
    }

    // ---- what the app gets ----

    /// <summary>
    /// The next bytes for the app: what its feed has, and at the end of what it has to execute that it is to become primary.
    /// </summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        lock (gate)
        {
            bytes = default;
            if (stage == Stage.Ended) return false;
            if (feed.TryTakeControl(out bytes)) return true;
            if (stage == Stage.AwaitHello) return false;
        }
        if (feed.TryTake(out bytes)) return true;
        if (stage != Stage.Replaying) return false;
        lock (gate)
        {
            if (target is not { } all || parts.Delivery.Next < all) return false;
            stage = Stage.BecomingPrimary;
            parts.Delivery.Marks.BecomePrimary();
            feed.Write(new BecomePrimary(all));
            return feed.TryTakeControl(out bytes);
        }
    }

    /// <summary>What <see cref="TryTake"/> gave is sent.</summary>
    public void Taken() => feed.Taken();

    public void Send<T>(T frame) where T : IFramePayload<T>
    {
        feed.Write(frame);
        wakeSender();
    }

    public void SendHeartbeat()
    {
        lock (gate)
        {
            if (stage == Stage.AwaitHello) return; // the welcome comes first
            feed.WriteHeartbeat();
        }
        wakeSender();
    }

    /// <summary>Durable inputs are there to be delivered.</summary>
    public void Wake() => wakeSender();

    /// <summary>The connection is over; both its threads have stopped.</summary>
    public void End(string why)
    {
        lock (gate)
        {
            if (stage == Stage.Ended) return;
            stage = Stage.Ended;
            EndReason = why;
        }
        feed.End();
        parts.Ended(this);
    }
}
