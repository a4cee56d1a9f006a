// The accepted part of a session: walks delivered records in order, keeps progress and checkpoint duty beside them.
// Invariant: between records the ready queue is empty, so no method is running when an image is taken. Thread: the scheduler's.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class Conversation(AppWelcome welcome, ImmortalRuntime runtime, SessionOptions options)
{
    /// <summary>Well below the limit (P5.7), so that several frames share a receive at the other end.</summary>
    private const int ImageChunkBytes = 256 << 10;

    private readonly CheckpointDuty duty = new(welcome.Epoch, welcome.Replica);

    /// <summary>Said last of what cannot be written: the next marks would repeat it.</summary>
    private string? said;

    internal AppWelcome Welcome { get; } = welcome;

    internal ImmortalRuntime Runtime { get; } = runtime;

    internal Progress Progress { get; } = new(runtime.Outbound, welcome.Checkpoint);

    internal void Restore(ReadOnlySpan<byte> image)
    {
        try
        {
            StateImage.Restore(Runtime, image, options.AcceptSource);
            if (!Runtime.Scheduler.IsQuiet)
                options.Log(
                    $"Continues {Runtime.Scheduler.FramesSuspended} suspended methods of the checkpoint at Lsn {Welcome.Checkpoint}.");
        }
        catch (InvalidDataException e)
        {
            throw new AppFailed("The checkpoint cannot be restored", e);
        }
    }

    /// <summary>A Deliver frame (P5.4).</summary>
    internal void Deliver(ReadOnlyMemory<byte> payload)
    {
        DeliverHeader header = DeliverHeader.Read(payload.Span);
        Progress.BeginFrame(header);
        Runtime.Surroundings.AdvanceTo(header.TimeUs);
        var records = new RecordReader(payload.Span[DeliverHeader.Bytes..], header.First);
        int bodyAt = DeliverHeader.Bytes;
        while (records.Next())
        {
            bodyAt += RecordHeader.Bytes;
            Execute(ref records, payload.Slice(bodyAt, records.Body.Length), header.TimeUs);
            bodyAt += records.Body.Length;
            Progress.RecordDone(records.End);
            if (duty.IsDue) MeetDuty(header.TimeUs);
        }
        Progress.EndFrame();
    }

    /// <summary>A Query frame (P5.18): between records, at the position that the answer states.</summary>
    internal void Answer(ReadOnlyMemory<byte> payload) => Runtime.Queries.Answer(payload, Progress.Executed);

    internal void Become(BecomePrimary frame)
    {
        if (Runtime.IsPrimary) throw new ProtocolViolation("P5.10", "a second BecomePrimary");
        try
        {
            Runtime.BecomePrimary();
        }
        catch (Exception e) when (e is not ProtocolViolation)
        {
            throw new AppFailed("BecomingPrimary failed", e);
        }
        Runtime.Outbound.Write(new PrimaryReady(frame.Position));
    }

    private void Execute(ref RecordReader records, ReadOnlyMemory<byte> body, long timeUs)
    {
        switch (records.Kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun:
                ExecuteRun(ref records, body);
                break;
            case RecordKind.ClientRequest:
                ExecuteRequest(ref records, body);
                break;
            case RecordKind.Policy:
                Take(records.Read<PolicyRecord>());
                break;
            case RecordKind.FirstStart:
                FirstStart(records.Read<FirstStartRecord>());
                break;
            case RecordKind.Peer:
                PeerRecord peer = records.Read<PeerRecord>();
                Runtime.Origins.Add(peer.Origin, peer.Peer);
                break;
            case RecordKind.Quarantine:
                ExecuteInside(records.Read<QuarantineRecord>(), records.Lsn.Value,
                    static (runtime, record, lsn) => runtime.Runs.Take(record, lsn));
                break;
            case RecordKind.TimerFired:
                ExecuteInside(records.Read<TimerFiredRecord>(), records.Lsn.Value,
                    static (runtime, record, lsn) => runtime.Fire(record, lsn));
                break;
            case RecordKind.NondetResult:
                ExecuteInside(records.Read<NondetResultRecord>(), records.Lsn.Value,
                    static (runtime, record, lsn) => runtime.TakeResult(record, lsn));
                break;
            case RecordKind.Forget:
                Forget(records.Read<ForgetRecord>(), records.End);
                break;
            case RecordKind.CheckpointMark:
                duty.Take(records.Read<CheckpointMarkRecord>(), records.Lsn, timeUs, Runtime.IsPrimary);
                break;
            default:
                // Trim and Digest concern the coordinator alone; kinds that nothing writes yet were refused by the reader.
                break;
        }
        if (Runtime.Outside.Window.IsOver) Runtime.Outside.Window.Trim();
    }

    private void Take(PolicyRecord policy)
    {
        Runtime.Outside.Window.Limits = WindowLimits.Of(policy);
        Runtime.Forks.Policies.InForce = policy.Forks;
        Runtime.Outbound.LimitMessages(policy.MessageBytesMax);
    }

    private void ExecuteRequest(ref RecordReader records, ReadOnlyMemory<byte> body)
    {
        using (Runtime.Scheduler.Enter()) Runtime.Outside.Execute(records.ReadClientRequest(), body, records.Lsn.Value);
    }

    private void ExecuteRun(ref RecordReader records, ReadOnlyMemory<byte> body)
    {
        RunView run = records.ReadRun();
        using (Runtime.Scheduler.Enter()) Runtime.Runs.Execute(run, body, records.Lsn.Value);
    }

    private void ExecuteInside<T>(T record, ulong lsn, Action<ImmortalRuntime, T, ulong> execute)
    {
        using (Runtime.Scheduler.Enter()) execute(Runtime, record, lsn);
    }

    /// <summary>The report comes first (P5.6): what the failing calls lead to is for whoever has the name next.</summary>
    private void Forget(ForgetRecord record, Lsn end)
    {
        Progress.Cut(end);
        Runtime.Outbound.Flush(); // impulses that are sent from here on stand behind it, too
        using (Runtime.Scheduler.Enter()) Runtime.Runs.Forget(record);
    }

    private void FirstStart(FirstStartRecord record)
    {
        if (record.Name != Welcome.Instance.Name)
            throw new ProtocolViolation("L5.5", $"the log of {record.Name} where Welcome said {Welcome.Instance}");
        using Scheduler.Execution inside = Runtime.Scheduler.Enter();
        try
        {
            Runtime.Construct();
        }
        catch (Exception e) when (e is not (ProtocolViolation or ChannelEnded))
        {
            throw new AppFailed($"{Runtime.TypeName} could not be made", e);
        }
    }

    private void MeetDuty(long timeUs)
    {
        if (duty.MustTake(Progress.Executed, Runtime.Scheduler.IsQuiet))
        {
            TakeCheckpoint();
            duty.Done();
        }
        else if (duty.ShouldReport(timeUs))
        {
            Runtime.Outbound.Write(new Waiting(duty.Mark, Runtime.WhyNotQuiet()));
        }
    }

    private void TakeCheckpoint()
    {
        if (Runtime.Immortal is null) throw new ProtocolViolation("P5.8", "a checkpoint mark before FirstStart or an image");
        ReadOnlyMemory<byte> image;
        try
        {
            image = StateImage.Write(Runtime);
        }
        catch (NotWritableException e)
        {
            if (said != e.Message)
                options.Log(
                    $"No checkpoint at Lsn {Progress.Executed}: {e.Message}. The log is kept, and the next mark tries again; a field can be marked [NotState], a local kept to a method that does not await.");
            said = e.Message;
            Runtime.Outbound.Write(new Waiting(duty.Mark, e.Message));
            return;
        }
        Runtime.Outbound.Write(new ImageBegin(Progress.Executed, StateImage.Version));
        for (int at = 0; at < image.Length; at += ImageChunkBytes)
            Runtime.Outbound.Write(FrameType.ImageChunk, image.Span.Slice(at, Math.Min(ImageChunkBytes, image.Length - at)));
        Runtime.Outbound.Write(new ImageEnd((ulong)image.Length, ChannelHash.Append(0, image.Span)));
        Progress.Implied();
    }
}
