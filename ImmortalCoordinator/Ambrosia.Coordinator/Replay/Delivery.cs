using System.Buffers;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Step 9 of a call: durable records on their way to the app, live and replayed alike, straight from the log's pages: the frame's headers
/// are written over the page's own, which is on disk already. A page is read from memory while it is there, else from the segment;
/// delivery never keeps one from being used again for longer than its own send.
/// Owns the position in the log, the fold up to it and the page in hand. The thread that sends to the app.
/// </summary>
internal sealed class Delivery(
    ReplicaLog log, LogReaders readers, ulong digestEvery, DeliveryTracker progress, DigestTracker digests, OutboxSet outboxes)
    : IDisposable
{
    /// <summary>The frame needs so much room in front of the first record. In bytes.</summary>
    private const int FrontBytes = FrameHeader.Bytes + DeliverHeader.Bytes;

    private readonly LogReader _reader = readers.New(holds: !log.IsWritten);
    private readonly PolicyLookahead _outlook = new(() => readers.New());
    private readonly List<OutboxTrim> _trims = [];
    private readonly List<OutboxCut> _cuts = [];
    private PageBuffer? _buffer;
    private PinnedPage? _pinned;
    private Lsn _firstRecord, _replayTo;
    private bool _hasFollowed; // the session began while another replica wrote the log, and truncated it without asking this one
    private ulong _nextMultiple;
    private long _spanningLeft;

    /// <summary>The page that is given record by record, and where its next record begins; null: none is.</summary>
    private (PageView Page, int At)? _pieces;

    /// <summary>A digest that spans pages, as far as it has come; null: none is under way.</summary>
    private ArrayBufferWriter<byte>? _spanningDigest;

    /// <summary>The page that comes next. Delivered ≤ Durable.</summary>
    public Lsn Next { get; private set; }

    /// <summary>This is the fold of what the log says below <see cref="Next"/>.</summary>
    public ReplayState State { get; private set; } = new();

    /// <summary>Checkpoint marks on their way to the app.</summary>
    public PendingMarks Marks { get; } = new();

    /// <summary>Hears what the log says of the primary's states. The thread that sends to the app calls it.</summary>
    public Action<StateHashRecord>? StateHashRecorded { get; set; }

    /// <summary>A view that may have to stop before what comes next; null: there is none.</summary>
    public View? View { get; init; }

    /// <summary>What comes next may be given, as far as a view is concerned.</summary>
    public bool MayGive => Versions.Ends is null
        && (View is not { } view || IsInsideFrame || _pieces is not null || view.MayGive(Next, progress.Dry));

    /// <summary>Every record goes in a frame of its own, with its own place as the mark, so that the app reports at each.</summary>
    public bool OneByOne { get; init; }

    /// <summary>Returns what the app must be told before it is given what was taken; null: nothing.</summary>
    public PolicyAhead? TakeOutlook() => _outlook.Take();

    /// <summary>It knows which version of the app is given records.</summary>
    public VersionSwitch Versions { get; init; } = new();

    /// <summary>The build of the app that is given records; null: it does not say. It changes between sessions alone.</summary>
    public BuildId? Build { get; set; }

    /// <summary>The build that has executed what was delivered last, as the log says; null: it does not say.</summary>
    public BuildId? ExecutedBy { get; set; }

    /// <summary>Another build than the app's has executed it; null: none that is known.</summary>
    private BuildId? ExecutedByOther => Build is not null && ExecutedBy != Build ? ExecutedBy : null;

    /// <summary>A frame has begun and goes on with the next bytes: nothing else may be sent between.</summary>
    public bool IsInsideFrame => _spanningLeft > 0;

    /// <summary>Records given to the running session.</summary>
    public long Records { get; private set; }

    /// <summary>
    /// The place of the last record that a session was given of what came from outside the log: what keeps the log itself in order does not
    /// count. Any thread.
    /// </summary>
    public Lsn LastInput => new(Volatile.Read(ref _lastInput));

    private ulong _lastInput;

    /// <summary>A session starts behind a checkpoint, or at the beginning of the log.</summary>
    /// <param name="page">The page that holds the first record, or would.</param>
    /// <param name="record">Records below this are in the checkpoint.</param>
    /// <param name="digested">The last digest position below it.</param>
    /// <param name="replayTo">Records below this were durable before the session began.</param>
    /// <param name="versions">The app begins with records of the one version, and can go on as far as the other.</param>
    public void Begin(Lsn page, Lsn record, ReplayState state, Lsn? digested, Lsn replayTo, (uint Runs, uint Highest) versions)
    {
        Versions.Begin(versions);
        _replayTo = _reader.LiveFrom = replayTo;
        _hasFollowed = !log.IsWritten;
        Taken();
        Next = page;
        _firstRecord = record;
        State = state;
        _spanningLeft = Records = 0;
        _spanningDigest = null;
        _pieces = null;
        _outlook.Begin(state.Policy, page, record, replayTo);
        _nextMultiple = digested is { } last ? (last.Value / digestEvery + 1) * digestEvery : digestEvery;
    }

    /// <summary>The bytes to send next; false: everything durable has been given.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        if (_pieces is not null) return TryPiece(out bytes);
        while (Next < log.Durable && MayGive)
        {
            PageView page = Load();
            if (!MayGivePage(page))
            {
                Taken();
                break;
            }
            if (TryFrame(page, out bytes)) return true;
            Taken();
        }
        bytes = default;
        return false;
    }

    private PageView Load()
    {
        bool fallsOnRecords = OneByOne || _firstRecord > Next + PageHeader.Bytes; // the frame's headers, and memory must keep those
        if (!fallsOnRecords && log.TryPin(Next, out PinnedPage live))
        {
            _pinned = live;
            return new PageView(live.Buffer, Next, live.Next, live.Length, live.TimeMicros, live.Flags, live.Remaining);
        }
        _buffer ??= new PageBuffer();
        _reader.Expect(log.Durable);
        ReadStatus status = _reader.Read(Next, ref _buffer);
        if (status == ReadStatus.Truncated && _hasFollowed) throw new LogTruncatedException(Next);
        if (status != ReadStatus.Page) throw _reader.MissingPage(Next);
        return new PageView(_buffer.Memory, Next, _buffer.Next, _buffer.Length, _buffer.TimeMicros, _buffer.Flags, _buffer.Remaining);
    }

    /// <summary>The record of an upgrade stands alone on its page, and what an app is not to be given is not read either.</summary>
    private bool MayGivePage(in PageView page)
    {
        if (page.Flags != PageFlags.StatesVersion || !Versions.HasNextApp) return true;
        var records = new RecordReader(page.Buffer.Span[PageHeader.Bytes..page.Length], page.Lsn + PageHeader.Bytes);
        return !records.Next() || records.Kind != RecordKind.Upgrade || Versions.MayGive(records.Read<UpgradeRecord>());
    }

    private bool TryFrame(in PageView page, out ReadOnlyMemory<byte> bytes)
    {
        Next = page.Next;
        bytes = default;
        if ((page.Flags & PageFlags.ContinuesSpanning) != 0) return TryContinue(page, out bytes);
        if (page.Length == PageHeader.Bytes) return false;
        int start = _firstRecord > page.Lsn + PageHeader.Bytes ? (int)(_firstRecord - page.Lsn) : PageHeader.Bytes;
        if (start >= page.Length) return false;

        Lsn? mark = Walk(page, start);
        Lsn lsn = page.Lsn + start;
        if (OneByOne)
        {
            if (page.Remaining == 0)
            {
                _pieces = (page, start);
                return TryPiece(out bytes);
            }
            mark = lsn;
        }
        long payload = DeliverHeader.Bytes + page.Length - start + page.Remaining;
        Span<byte> front = page.Buffer.Span.Slice(start - FrontBytes, FrontBytes);
        new FrameHeader(checked((uint)payload), FrameType.Deliver, 0).Write(front, seed: 0);
        new DeliverHeader(lsn, page.TimeMicros, mark ?? Lsn.Zero).Write(front[FrameHeader.Bytes..]);
        _spanningLeft = page.Remaining;
        Crash.Hit("deliver.before");
        bytes = page.Buffer[(start - FrontBytes)..page.Length];
        return true;
    }

    private bool TryPiece(out ReadOnlyMemory<byte> bytes)
    {
        (PageView page, int at) = _pieces!.Value;
        Span<byte> span = page.Buffer.Span;
        int end = at + RecordHeader.Bytes + (int)RecordHeader.Read(span[at..]).Length;
        Lsn lsn = page.Lsn + at;
        Span<byte> front = span.Slice(at - FrontBytes, FrontBytes);
        new FrameHeader((uint)(DeliverHeader.Bytes + end - at), FrameType.Deliver, 0).Write(front, seed: 0);
        new DeliverHeader(lsn, page.TimeMicros, lsn).Write(front[FrameHeader.Bytes..]);
        bytes = page.Buffer[(at - FrontBytes)..end];
        _pieces = end < page.Length ? (page, end) : null;
        return true;
    }

    private bool TryContinue(in PageView page, out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (_spanningLeft == 0) return false; // its record is below the checkpoint
        int content = page.Length - PageHeader.Bytes;
        if (page.Remaining != _spanningLeft - content)
            throw new InvalidOperationException($"page at {page.Lsn} does not continue the record before it");
        _spanningLeft = page.Remaining;
        bytes = page.Buffer[PageHeader.Bytes..page.Length];
        if (_spanningDigest is not null) GatherDigest(bytes.Span, _spanningLeft);
        return true;
    }

    /// <summary>Folds the page's records, and finds where the app must report in it; null: nowhere.</summary>
    private Lsn? Walk(in PageView page, int start)
    {
        Lsn first = page.Lsn + start;
        ReadOnlySpan<byte> bytes = page.Buffer.Span[start..page.Length];
        Lsn? mark = null;
        ulong lastInput = _lastInput;
        _trims.Clear();
        _cuts.Clear();
        if (page.Remaining > 0)
        {
            mark = MarkAt(first);
            PageFold.FoldSpanning(State, bytes, first);
            Records++;
            if (IsInput((RecordKind)bytes[4])) lastInput = first.Value;
            if ((RecordKind)bytes[4] == RecordKind.Digest)
            {
                _spanningDigest = new ArrayBufferWriter<byte>((int)(bytes.Length + page.Remaining));
                GatherDigest(bytes, page.Remaining);
            }
        }
        else
        {
            var records = new RecordReader(bytes, first);
            while (records.Next())
            {
                mark ??= MarkAt(records.Lsn);
                State.Fold(records);
                if (records.Kind == RecordKind.Forget)
                    _cuts.Add(new OutboxCut(records.End, outboxes.GetOrAdd(State.NameOf(records.Read<ForgetRecord>().Origin))));
                Records++;
                if (IsInput(records.Kind)) lastInput = records.Lsn.Value;
                if (records.Lsn < _replayTo) Crash.Hit("recovery.everyRecord");
                if (records.Kind == RecordKind.Digest) mark = NoteDigest(records, mark);
                else NoteControl(page.Lsn, records);
            }
        }
        Volatile.Write(ref _lastInput, lastInput);
        IReadOnlyList<OutboxTrim> noted = _trims.Count == 0 ? [] : _trims.ToArray();
        Lsn end = page.Lsn + page.Length + page.Remaining;
        return progress.Delivered(new DeliveredPage(page.Lsn, first, end, State.InputsOf(0), noted) { Mark = mark }, _cuts);
    }

    private static bool IsInput(RecordKind kind) =>
        kind is not (RecordKind.Trim or RecordKind.Digest or RecordKind.CheckpointMark or RecordKind.StateHash or RecordKind.Build);

    private void GatherDigest(ReadOnlySpan<byte> part, long left)
    {
        ArrayBufferWriter<byte> whole = _spanningDigest!;
        whole.Write(part);
        if (left > 0) return;
        digests.Recorded(DigestRecord.Read(whole.WrittenSpan[RecordHeader.Bytes..]), ExecutedByOther);
        _spanningDigest = null;
    }

    private Lsn? MarkAt(Lsn record)
    {
        if (record.Value < _nextMultiple) return null;
        _nextMultiple = (record.Value / digestEvery + 1) * digestEvery;
        return record;
    }

    /// <summary>A quiet digest's position is its own: the app reports there, and nobody knows of it before (log-format L5.7).</summary>
    private Lsn? NoteDigest(in RecordReader record, Lsn? mark)
    {
        var digest = record.Read<DigestRecord>();
        digests.Recorded(digest, ExecutedByOther);
        if (digest.Position != record.Lsn) return mark;
        return mark is null || mark == record.Lsn ? record.Lsn
            : throw new ProtocolViolation("L5.7", $"a quiet digest at {record.Lsn} that is not alone on its page");
    }

    private void NoteControl(Lsn page, in RecordReader record)
    {
        switch (record.Kind)
        {
            case RecordKind.CheckpointMark when Marks.IsWanted(record.Read<CheckpointMarkRecord>()):
                Marks.Add(new MarkSnapshot(page, record.End, State.Clone(), record.Read<CheckpointMarkRecord>())); break;
            case RecordKind.Policy: _outlook.Meet(State.Policy, page, record.Lsn, log.Durable); break;
            case RecordKind.Trim: NoteTrims(record.Read<TrimRecord>()); break;
            case RecordKind.StateHash: StateHashRecorded?.Invoke(record.Read<StateHashRecord>()); break;
            case RecordKind.FirstStart: RequireVersion(record.Read<FirstStartRecord>().AppVersion); break;
            case RecordKind.Build: RequireBuild(record.Lsn, record.Read<BuildRecord>()); break;
            case RecordKind.Upgrade when record.Read<UpgradeRecord>() is var upgrade:
                if (!Versions.TryMeet(upgrade, record.Lsn.Value)) RequireVersion(upgrade.VersionTo);
                break;
        }
    }

    private void RequireVersion(uint inForce)
    {
        if (View is null && inForce != Versions.Runs) throw new AppVersionException(inForce, Versions.Runs);
    }

    /// <summary>
    /// A replica follows a primary of its own build alone (log-format L5.18). What was durable when the session began was judged then.
    /// </summary>
    private void RequireBuild(Lsn lsn, BuildRecord primary)
    {
        ExecutedBy = primary.Build;
        if (log.IsWritten || lsn < _replayTo) return;
        if (Build is { } own && primary.Build is { } other && other != own) throw new BuildReplacedException(own, other);
    }

    private void NoteTrims(TrimRecord record)
    {
        foreach (TrimPosition entry in record.Positions)
        {
            if (ReplayState.IsForgotten(State.Peers[(int)entry.Origin - 1])) continue;
            InstanceId peer = State.NameOf(entry.Origin);
            _trims.Add(new OutboxTrim(outboxes.GetOrAdd(peer), State.GenerationOf(peer), entry.Number));
        }
    }

    /// <summary>What <see cref="TryTake"/> gave is sent, or will never be.</summary>
    public void Taken()
    {
        _pinned?.Unpin();
        _pinned = null;
    }

    /// <summary>See <see cref="LogReader.ReleaseIfIdle"/>. Any thread.</summary>
    public void ReleaseIfIdle() => _reader.ReleaseIfIdle();

    /// <summary>See <see cref="LogReader.StopHolding"/>. Any thread.</summary>
    public void StopHolding() => _reader.StopHolding();

    public void Dispose()
    {
        Taken();
        _reader.Dispose();
    }

    private readonly record struct PageView(
        Memory<byte> Buffer, Lsn Lsn, Lsn Next, int Length, long TimeMicros, PageFlags Flags, uint Remaining);
}
