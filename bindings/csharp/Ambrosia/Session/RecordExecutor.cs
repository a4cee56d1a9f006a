using Ambrosia.Calls;
using Ambrosia.Checkpoints;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Session;

/// <summary>
/// Executes the records of a session that the coordinator has accepted, in their order, and keeps progress and the pending checkpoint
/// beside them. Thread: the scheduler's. Invariant: between records the ready queue is empty, so no method is running when an image is
/// taken.
/// </summary>
internal sealed class RecordExecutor(AppWelcome welcome, ImmortalRuntime runtime, SessionOptions options)
{
    private readonly PendingCheckpoint _checkpoint = new(welcome.Epoch, welcome.Replica);

    private ImageReadBack _readBack = new(runtime.Definition, welcome, options);

    /// <summary>The reason for which the last image could not be written, which the next marks would repeat.</summary>
    private string? _lastRefusal;

    /// <summary>It executes the log of a view, with its stops; null: this app lives.</summary>
    internal ViewExecutor? View { get; private set; }

    internal AppWelcome Welcome { get; } = welcome;

    /// <summary>It changes where an upgrade brings another version into force.</summary>
    internal ImmortalRuntime Runtime { get; private set; } = runtime;

    /// <summary>The version of the app that executes.</summary>
    internal uint Version { get; private set; } = welcome.RunsVersion ?? options.AppVersion;

    internal ProgressReporter Progress { get; } = new(runtime.Outbound, welcome.Checkpoint);

    /// <summary>
    /// What is being executed, or follows next; null: a report of progress has said so much. Any thread may ask, and gets what was true a
    /// moment before.
    /// </summary>
    internal MessagePlace? Executing => Inside ?? (Progress.IsUnreported ? new MessagePlace(Progress.Executed, 0) : null);

    /// <summary>The message that is being executed; null: nothing is, between records. Any thread may ask.</summary>
    internal MessagePlace? Inside
    {
        get
        {
            Lsn at = Progress.Executed;
            uint index = Runtime.Scheduler.MessageIndex;
            return index == Scheduler.NoMessage ? null : new MessagePlace(at, index);
        }
    }

    internal void Restore(LargeBuffer image)
    {
        try
        {
            IReadOnlyList<string> kept = Runtime.Restore(image, options.AcceptSource);
            if (!Runtime.Scheduler.IsQuiet)
                options.Log(
                    $"Continues {Runtime.Scheduler.FramesSuspended} suspended methods of the checkpoint at Lsn {Welcome.Checkpoint}.");
            foreach (string line in kept) options.Log($"{line}.");
        }
        catch (InvalidDataException e)
        {
            throw new ImageUnrestorable(e);
        }
    }

    /// <summary>The app is one of a view from here on. Before anything is executed.</summary>
    internal void BeginView() => View = new ViewExecutor(this, options.Time);

    /// <summary>Executes the records of a Deliver frame (P5.4).</summary>
    internal void Deliver(ReadOnlyMemory<byte> payload)
    {
        if (View is not null)
        {
            View.Deliver(payload);
            return;
        }
        DeliverHeader header = DeliverHeader.Read(payload.Span);
        BeginFrame(header);
        var records = new RecordReader(payload.Span[DeliverHeader.Bytes..], header.First);
        while (records.Next()) Execute(ref records, header.TimeUs);
        Progress.EndFrame();
    }

    /// <summary>A frame's time is in force from here on, and its mark is watched.</summary>
    internal void BeginFrame(in DeliverHeader header)
    {
        Progress.BeginFrame(header);
        Runtime.Context.Replay.AdvanceTo(header.TimeUs);
    }

    /// <summary>Executes the record at which a reader stands.</summary>
    internal void Execute(ref RecordReader records, long timeUs)
    {
        Runtime.BeginRecord(records.Lsn);
        ExecuteBody(ref records, timeUs);
        End(records.End);
        if (_checkpoint.IsDue) TakeCheckpointIfDue(timeUs);
    }

    /// <summary>Executes some messages of a run in the record at <paramref name="lsn"/>; <see cref="End"/> follows the last.</summary>
    internal void Execute(RunView part, Lsn lsn)
    {
        if (part.First == 0) Runtime.BeginRecord(lsn);
        using (Runtime.Scheduler.Enter()) Runtime.Execute(part, lsn);
    }

    /// <summary>A record is executed, which ends here.</summary>
    internal void End(Lsn record)
    {
        if (Runtime.ClientCalls.Window.IsOver) Runtime.ClientCalls.Window.Trim();
        Runtime.EndRecord();
        Progress.RecordDone(record);
    }

    /// <summary>Sends the image of the state as it is where a view has stopped, or says why there is none.</summary>
    internal void ShowImage()
    {
        if (Runtime.Immortal is null) Runtime.Outbound.Write(new Waiting(Progress.Executed, "there is no state before the first record"));
        else TakeImage(Progress.Executed);
    }

    /// <summary>Answers a Query frame (P5.18): between records, at the position that the answer states.</summary>
    internal void Answer(ReadOnlySpan<byte> payload) => Runtime.Queries.Answer(payload, Progress.Executed);

    /// <summary>Goes on with the state of another version, which was made of this one's.</summary>
    internal void GoOnWith(ImmortalRuntime next, uint version)
    {
        (Runtime, Version) = (next, version);
        _readBack = new ImageReadBack(next.Definition, Welcome, options);
    }

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

    private void ExecuteBody(ref RecordReader records, long timeUs)
    {
        switch (records.Kind)
        {
            case RecordKind.Run or RecordKind.ImpulseRun:
                ExecuteRun(ref records);
                break;
            case RecordKind.ClientRequest:
                ExecuteRequest(ref records);
                break;
            case RecordKind.Policy:
                Take(records.Read<PolicyRecord>());
                break;
            case RecordKind.FirstStart:
                FirstStart(records.Read<FirstStartRecord>());
                break;
            case RecordKind.Peer:
                PeerRecord peer = records.Read<PeerRecord>();
                Runtime.Peers.Add(peer.Origin, peer.Peer);
                break;
            case RecordKind.Quarantine:
                ExecuteInside(records.Read<QuarantineRecord>(), static (runtime, record) => runtime.Take(record));
                break;
            case RecordKind.TimerFired:
                ExecuteInside(records.Read<TimerFiredRecord>(), static (runtime, record) => runtime.Fire(record));
                break;
            case RecordKind.NondetResult:
                ExecuteInside(records.Read<NondetResultRecord>(), static (runtime, record) => runtime.TakeResult(record));
                break;
            case RecordKind.Forget:
                Forget(records.Read<ForgetRecord>(), records.End);
                break;
            case RecordKind.Upgrade:
                Upgraded(records.Read<UpgradeRecord>());
                break;
            case RecordKind.CheckpointMark when View is null:
                _checkpoint.Take(records.Read<CheckpointMarkRecord>(), records.Lsn, timeUs, Runtime.IsPrimary);
                break;
            default:
                // Trim and Digest concern the coordinator alone; kinds that nothing writes yet were refused by the reader.
                break;
        }
    }

    private void Take(PolicyRecord policy)
    {
        Runtime.ClientCalls.Window.Limits = WindowLimits.Of(policy);
        Runtime.Failures.Policies.InForce = policy.Forks;
        Runtime.Outbound.LimitMessages(policy.MessageBytesMax);
    }

    private void ExecuteRequest(ref RecordReader records)
    {
        using (Runtime.Scheduler.Enter()) Runtime.ClientCalls.Execute(records.ReadClientRequest());
    }

    private void ExecuteRun(ref RecordReader records)
    {
        RunView run = records.ReadRun();
        using (Runtime.Scheduler.Enter()) Runtime.Execute(run, records.Lsn);
    }

    private void ExecuteInside<T>(T record, Action<ImmortalRuntime, T> execute)
    {
        using (Runtime.Scheduler.Enter()) execute(Runtime, record);
    }

    /// <summary>
    /// Executes a Forget record. The report comes first (P5.6): what the failing calls lead to is for whoever has the name next.
    /// </summary>
    private void Forget(ForgetRecord record, Lsn end)
    {
        Progress.ReportForget(end);
        Runtime.Outbound.Flush(); // impulses that are sent from here on stand behind it, too
        using (Runtime.Scheduler.Enter()) Runtime.Forget(record);
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

    /// <summary>The app of a view may be of either version alone, and executes the records of both.</summary>
    private void Upgraded(UpgradeRecord record)
    {
        if (record.VersionTo != Version)
        {
            if (View is not null) return;
            throw new ProtocolViolation("P5.25", $"the record of an upgrade to version {record.VersionTo}, for an app that runs {Version}");
        }
        using Scheduler.Execution inside = Runtime.Scheduler.Enter();
        try
        {
            Runtime.Upgraded(record.VersionFrom);
        }
        catch (Exception e) when (e is not (ProtocolViolation or ChannelEnded))
        {
            throw new AppFailed("OnUpgraded failed", e);
        }
    }

    private void TakeCheckpointIfDue(long timeUs)
    {
        if (_checkpoint.MustTake(Progress.Executed, Runtime.Scheduler.IsQuiet))
        {
            TakeCheckpoint();
            _checkpoint.Done();
        }
        else if (_checkpoint.ShouldReport(timeUs))
        {
            Runtime.Outbound.Write(new Waiting(_checkpoint.Mark, Runtime.WhyNotQuiet()));
        }
    }

    private void TakeCheckpoint()
    {
        if (Runtime.Immortal is null) throw new ProtocolViolation("P5.8", "a checkpoint mark before FirstStart or an image");
        TakeImage(_checkpoint.Mark);
    }

    /// <param name="askedAt">Named where the image cannot be written.</param>
    private void TakeImage(Lsn askedAt)
    {
        try
        {
            if (View is not null || !_readBack.IsDue || !TrySendProven())
                using (WrittenImage image = Runtime.WriteImage()) Send(image);
            _readBack.Taken();
            _lastRefusal = null;
        }
        catch (NotWritableException e)
        {
            Refuse(askedAt, e.Message);
        }
    }

    /// <summary>
    /// Sends an image that was read back. False: it is too large for that, or there is not the memory, and nothing was sent.
    /// </summary>
    /// <exception cref="NotWritableException">It cannot be written, or does not read back.</exception>
    private bool TrySendProven()
    {
        using var image = new LargeBuffer();
        try
        {
            long bytesMax = _readBack.BytesMax(Runtime.IsPrimary);
            ImageEnd end;
            using (WrittenImage written = Runtime.WriteImage()) end = written.CopyTo(image, bytesMax);
            if (image.Length < (long)end.Length)
            {
                _readBack.TooLarge((long)end.Length, bytesMax);
                return false;
            }
            if (_readBack.WhatDiffers(image, end) is { } differs) throw new NotWritableException(differs);
            SendImage(image, end);
            return true;
        }
        catch (OutOfMemoryException)
        {
            options.Log($"The image at Lsn {Progress.Executed} is not read back: there is not the memory for it.");
            return false;
        }
    }

    /// <summary>Says that there is no checkpoint, and will be none before the state is another one.</summary>
    private void Refuse(Lsn askedAt, string why)
    {
        if (_lastRefusal != why)
            options.Log(
                $"No checkpoint at Lsn {Progress.Executed}: {why}. The log is kept, and the next mark tries again; a field can be marked [NotState], a local kept to a method that does not await.");
        _lastRefusal = why;
        Runtime.Outbound.Write(new Waiting(askedAt, $"{Waiting.Refused}{why}"));
    }

    /// <summary>Sends the image of the state as it is, for an app of another version to convert, or says why it cannot.</summary>
    /// <exception cref="ProtocolViolation">P5.25: another version, or another place.</exception>
    internal void SendState(ConvertFrame frame)
    {
        if (frame.From != Version || (frame.Position != Lsn.Zero && frame.Position < Progress.Executed))
            throw new ProtocolViolation(
                "P5.25", $"the state of version {frame.From} at {frame.Position}, of an app that runs version {Version} at {Progress.Executed}");
        WrittenImage image;
        try
        {
            if (Runtime.Immortal is null) throw new InvalidOperationException("there is no state before the first record");
            image = Runtime.WriteImage();
        }
        catch (Exception e) when (e is NotWritableException or InvalidOperationException)
        {
            Runtime.Outbound.Write(new ConvertedFrame(Progress.Executed, ConversionUse.State, 0, 0, e.Message));
            return;
        }
        Runtime.Outbound.Write(new ConvertedFrame(Progress.Executed, ConversionUse.State, 0, 0, ""));
        using (image) Send(image);
    }

    /// <summary>Sends an image that is in memory already.</summary>
    internal void SendImage(LargeBuffer image, ImageEnd end)
    {
        Runtime.Outbound.Write(new ImageBegin(Progress.Executed, StateImage.Version));
        Progress.ReportedByImage();
        for (long at = 0; at < image.Length;)
        {
            ReadOnlySpan<byte> piece = image.From(at);
            piece = piece[..Math.Min(piece.Length, ImageChunk.BytesMax)];
            Runtime.Outbound.Write(FrameType.ImageChunk, piece);
            Runtime.Outbound.WaitForRoom();
            at += piece.Length;
        }
        Runtime.Outbound.Write(end);
    }

    /// <summary>Sends an image. From its first frame on, the coordinator knows that everything before it is executed.</summary>
    private void Send(WrittenImage image)
    {
        Runtime.Outbound.Write(new ImageBegin(Progress.Executed, StateImage.Version));
        Progress.ReportedByImage();
        try
        {
            ImageEnd end = image.Send(Runtime.Outbound);
            Runtime.Outbound.Write(end);
        }
        catch (Exception e) when (e is not ChannelEnded)
        {
            throw new AppFailed("The image of the state, of which a part is sent, cannot be written to its end", e);
        }
    }
}
