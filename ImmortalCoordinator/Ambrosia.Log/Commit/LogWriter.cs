using System.Runtime.CompilerServices;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Commit;

/// <summary>
/// Writes the log of a primary. Any thread reserves, fills and leaves (one compare-and-swap each way, no lock, no allocation). One
/// committer at a time takes sealed pages as a group, writes, flushes, checks the fence and completes. Nothing here waits: a pump does, and
/// obeys the answers. Invariant: Durable ≤ Sealed ≤ Tail, checked at every step; what is Durable was flushed and fence-checked.
/// </summary>
public sealed class LogWriter : IDisposable
{
    private readonly LogOptions _options;
    private readonly SegmentStore _store;
    private readonly PagePool _pool;
    private readonly PageStamper _stamper;
    private readonly CommitGroup _group;
    private ulong _durable;     // grows only in Complete
    private ulong _stated;      // ≤ _durable: highest durableUpTo or seal on disk
    private ulong _recordsEnd;  // ≤ _durable: end of the last durable page that is no mark
    private int _committing;    // 1 while a group is being committed
    private int _awaitsSpace;   // 1 while a group waits until space is set aside and zeroed for it
    // 1 while the committer waits for a Leave. It waits before its first step too, and the first Leave must not be lost on it.
    private int _isIdle = 1;

    internal LogWriter(LogOptions options, TimeProvider time, ICrashPoints crash, SegmentStore store, LogTail tail)
    {
        Metrics = new LogMetrics(store.Counters);
        _options = options;
        _store = store;
        Clock = new LogClock(time, store.Header.CreatedMicros);
        _stamper = new PageStamper(store.Header, Clock, tail.LastHash);
        _group = new CommitGroup(store, Metrics, crash);
        _pool = new PagePool(options.PageBytes, options.Pages, options.PagesKept, Math.Min(options.SpanningBytes, options.SegmentBytes / 4),
            tail.End);
        _durable = tail.End.Value;
        _stated = store.Header.FirstLsn.Value;
        _recordsEnd = tail.RecordsEnd.Value;
    }

    public Epoch Epoch => _store.Header.Epoch;

    /// <summary>The number of the segment that is written; it has its name durably.</summary>
    public ulong Segment => _store.Header.Number;

    /// <summary>The position behind the last byte reserved; equal to <see cref="Sealed"/> while the open page is empty.</summary>
    public Lsn Tail => _pool.Tail;

    /// <summary>The position where the page ends that the tail lies in, if nothing more is appended to it.</summary>
    public Lsn TailPageEnd => Lsn.Zero + AlignedBlock.RoundUp((long)Tail.Value);

    /// <summary>Every page below this is sealed.</summary>
    public Lsn Sealed => _pool.Sealed;

    /// <summary>Every page below this is flushed and fence-checked: it may be acknowledged, delivered and emitted on.</summary>
    public Lsn Durable => new(Volatile.Read(ref _durable));

    /// <summary>
    /// The highest position that a durable page or seal states as durable: followers act on it, and a published checkpoint needs it.
    /// </summary>
    public Lsn Stated => new(Volatile.Read(ref _stated));

    /// <summary>The last durable page with records ends here: what follows states only what is durable.</summary>
    public Lsn RecordsEnd => new(Volatile.Read(ref _recordsEnd));

    /// <summary>The most bytes of records that one reservation can hold; a larger record spans pages.</summary>
    public int ReserveBytesMax => _options.PageBytes - PageHeader.Bytes;

    /// <summary>The distance of digest positions in this log, in bytes (log-format L5.7).</summary>
    public ulong DigestEvery => _store.Header.DigestEvery;

    /// <summary>The app version in force behind all that was appended; 0 before the log's first record.</summary>
    public uint AppVersion => _store.VersionAt(new Lsn(ulong.MaxValue));

    public LogMetrics Metrics { get; }

    /// <summary>The time of this log: that of its pages, and that by which timers are due.</summary>
    public LogClock Clock { get; }

    /// <summary>
    /// Reserves room for one or several whole records. Returns false when every page is filled because the disk is behind; the caller tries
    /// again after a commit.
    /// </summary>
    /// <param name="bytes">1 to <see cref="ReserveBytesMax"/>, record headers included.</param>
    public bool TryReserve(int bytes, out Reservation r)
    {
        if ((uint)(bytes - 1) >= (uint)ReserveBytesMax) throw BadSize(bytes);
        while (true)
        {
            LogPage page = _pool.Open;
            long word = page.State.Word;
            int end = PageState.EndOf(word);
            if (!PageState.IsSealed(word) && bytes <= page.Capacity - end)
            {
                if (!page.State.TryReserve(word, bytes)) continue;
                r = new Reservation(page, end, bytes);
                return true;
            }
            bool isOpen = _pool.TryOpenNext(bytes, out LogPage? filled);
            if (filled is not null) LeaveFilled(filled);
            if (isOpen) continue;
            Metrics.CountNoRoom();
            r = default;
            return false;
        }
    }

    /// <summary>
    /// Computes the checksum of a page that its last writer has filled, and leaves it. The committer would find the records in a cache that
    /// is not its own, while the disk waits.
    /// </summary>
    private static void LeaveFilled(LogPage filled)
    {
        filled.PayloadCrc = Crc32C.Of(filled.Records);
        filled.State.Leave();
    }

    /// <summary>
    /// Tells that the reserved bytes are written. Returns true when the committer is idle: the caller commits or wakes it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Leave(in Reservation r)
    {
        r.Page.State.Leave();
        return Volatile.Read(ref _isIdle) != 0 && Interlocked.Exchange(ref _isIdle, 0) != 0;
    }

    /// <summary>
    /// Appends one record of any size; one that does not fit a page takes pages of its own. The record's body is
    /// <paramref name="bodyHead"/> followed by <paramref name="bodyRest"/>. Returns false when too much of other spanning records is on its
    /// way, or there is no room. After true the caller wakes the committer.
    /// </summary>
    /// <param name="lsn">Position of the record's first byte.</param>
    /// <param name="end">The record is durable when Durable is at or above it.</param>
    /// <param name="reserved">Is told <paramref name="end"/> before anybody can commit the record, and under no lock of the log.</param>
    public bool TryAppendSpanning(
        RecordKind kind, ReadOnlySpan<byte> bodyHead, ReadOnlySpan<byte> bodyRest, out Lsn lsn, out Lsn end, Action<Lsn>? reserved = null)
    {
        long record = RecordHeader.Bytes + (long)bodyHead.Length + bodyRest.Length;
        if (record - RecordHeader.Bytes > _options.RecordBytesMax)
            throw new ArgumentException($"a record of {record} bytes exceeds what a message limit of {_options.MessageBytesMax} allows");
        if (record <= ReserveBytesMax) return TryAppendSmall(kind, bodyHead, bodyRest, (int)record, out lsn, out end, reserved);
        lsn = end = default;
        if (!_pool.TryAdmitSpanning(record)) return false;
        List<LogPage> pages = SpanningRecord.Split(_options.PageBytes, _pool.TakeSpare, kind, bodyHead, bodyRest);
        lsn = _pool.AppendSpanning(pages, out end) + PageHeader.Bytes;
        Announce(reserved, end); // it takes locks under which others append, so none of ours is held
        pages[0].State.Leave();
        return true;
    }

    /// <summary>
    /// Appends one record on a page of its own that begins at <paramref name="at"/>. Returns false when anything is on its way, or was
    /// appended since the caller looked, or the record does not fit. After true the caller wakes the committer.
    /// </summary>
    public bool TryAppendAlone(Lsn at, RecordKind kind, ReadOnlySpan<byte> body) => TryAppendAlone(at, kind, body, appVersion: 0);

    /// <summary>
    /// Appends the record that brings an app version into force: FirstStart, or an Upgrade. It begins a segment, and is alone on its page,
    /// whose header repeats the version (log-format L4.6).
    /// </summary>
    /// <param name="at">The log's end, as the caller knows it: nothing stands between that and the record.</param>
    /// <returns>False when the log has gone on from there, or something is on its way.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The version is not above the one in force.</exception>
    public bool TryAppendVersion(Lsn at, RecordKind kind, ReadOnlySpan<byte> body, uint appVersion)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(appVersion, AppVersion);
        return TryAppendAlone(at, kind, body, appVersion);
    }

    private bool TryAppendAlone(Lsn at, RecordKind kind, ReadOnlySpan<byte> body, uint appVersion)
    {
        int bytes = RecordHeader.Bytes + body.Length;
        if (bytes > ReserveBytesMax || _pool.TryTakeAlone(at, bytes, appVersion) is not { } page) return false;
        if (appVersion > 0) _store.ChangeVersion(at, appVersion); // before the committer can have the page
        Span<byte> to = page.Bytes.Slice(PageHeader.Bytes, bytes);
        new RecordHeader((uint)body.Length, kind).Write(to);
        body.CopyTo(to[RecordHeader.Bytes..]);
        page.State.Leave();
        return true;
    }

    /// <summary>Takes all sealed pages as one group; the open page is sealed if none waits. There is one group at a time.</summary>
    public CommitReadiness Begin(out CommitGroup? group)
    {
        LockChecks.BeforeCommit();
        group = null;
        GroupPlace place;
        while (true)
        {
            if (Interlocked.CompareExchange(ref _committing, 1, 0) != 0) return CommitReadiness.Busy;
            CommitReadiness answer = _group.PageCount > 0 ? CommitReadiness.Ready : _pool.Take(_group.Pages);
            if (answer == CommitReadiness.Ready)
            {
                place = _store.PlaceFor(_group.Bytes, _group.IsMark);
                if (place != GroupPlace.None) break;
                Volatile.Write(ref _awaitsSpace, 1);
                Interlocked.Exchange(ref _committing, 0);
                return CommitReadiness.AwaitingSpace;
            }
            // A writer leaves first and then looks at the flag, so the committer raises the flag first and then looks at the pages.
            Interlocked.Exchange(ref _isIdle, 1);
            Interlocked.Exchange(ref _committing, 0);
            // Whoever has taken the flag meanwhile may have found us busy, and gone: without another turn nobody would be idle or commit.
            if (!_pool.HasReady && Volatile.Read(ref _isIdle) != 0) return answer;
        }
        Volatile.Write(ref _isIdle, 0);
        Volatile.Write(ref _awaitsSpace, 0);
        ulong hashBefore = _stamper.LastHash;
        _stamper.Stamp(_group.Pages, Durable);
        _group.Begin(hashBefore, _stamper.LastTimeMicros, place);
        if (_group.Start != Durable || _group.End > Sealed)
            throw new InvalidOperationException($"group {_group.Start}–{_group.End} between Durable {Durable} and Sealed {Sealed}");
        group = _group;
        return CommitReadiness.Ready;
    }

    /// <summary>
    /// Advances Durable to the group's end. The caller calls <see cref="Begin"/> again afterwards, until it has no group.
    /// </summary>
    public void Complete(CommitGroup group)
    {
        if (group != _group || !group.IsChecked)
            throw new InvalidOperationException("the group was not written, flushed and fence-checked");
        LogPage last = group.Pages[^1];
        bool isMark = last.Flags == PageFlags.DurableMark;
        ulong stated = Math.Max(last.Header.DurableUpTo.Value, _store.Header.FirstLsn.Value);
        if (stated < _stated || group.End.Value < stated)
            throw new InvalidOperationException($"durableUpTo {stated} after {_stated} in a group that ends at {group.End}");
        foreach (LogPage page in group.Pages)
            if (page.Flags == PageFlags.BeginsSpanning) Metrics.CountSpanning();
        _pool.Complete(group.Pages); // from here on the pages may be used again
        Volatile.Write(ref _durable, group.End.Value);
        Volatile.Write(ref _stated, stated);
        if (!isMark) Volatile.Write(ref _recordsEnd, group.End.Value);
        else Metrics.CountMark();
        Metrics.CountGroup();
        group.Reset();
        Volatile.Write(ref _committing, 0);
    }

    /// <summary>True when something durable is stated nowhere on disk and nothing else is under way (log-format L4.4).</summary>
    public bool MarkDue => Volatile.Read(ref _stated) < Volatile.Read(ref _recordsEnd) && _pool.IsQuiet;

    /// <summary>Queues a durable mark; returns false when none is due. Begin and the steps of the group follow as usual.</summary>
    public bool AppendMark() => Volatile.Read(ref _stated) < Volatile.Read(ref _recordsEnd) && _pool.TryAppendMark();

    /// <summary>
    /// Holds a durable page that is still in memory; after false the caller reads it from the segment. At most two are held at a time.
    /// </summary>
    public bool TryPin(Lsn pageLsn, out PinnedPage page) => _pool.TryPin(pageLsn, out page);

    /// <summary>
    /// Makes one step of setting space aside, of zeroing ahead of the tail, or of making the next segment's file, for a pump of its own.
    /// Returns true when there is more to do. A full disk is no failure: <see cref="IsSpaceShort"/> says so, and the next step tries again.
    /// </summary>
    /// <exception cref="IOException">Exit 74.</exception>
    public bool PrepareSpace() => _store.Prepare();

    /// <summary>True when the disk is full: what was reserved waits, and soon nothing more can be reserved.</summary>
    public bool IsSpaceShort => _store.IsShort;

    /// <summary>True when a group waits for space or for zeros; whoever has prepared some wakes the committer.</summary>
    public bool IsAwaitingSpace => Volatile.Read(ref _awaitsSpace) != 0;

    /// <inheritdoc cref="SegmentStore.Release"/>
    public SegmentRelease Release(LogSegment oldest, bool evenIfHeld = false) => _store.Release(oldest, evenIfHeld);

    /// <inheritdoc cref="SegmentStore.RemoveOrphans"/>
    public int RemoveOrphans() => _store.RemoveOrphans();

    /// <summary>Closes the files and writes nothing. Every thread that uses the writer has ended before.</summary>
    public void Dispose() => _store.Dispose();

    private bool TryAppendSmall(
        RecordKind kind, ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest, int bytes, out Lsn lsn, out Lsn end, Action<Lsn>? reserved)
    {
        lsn = end = default;
        if (!TryReserve(bytes, out Reservation r)) return false;
        new RecordHeader((uint)(bytes - RecordHeader.Bytes), kind).Write(r.Bytes);
        head.CopyTo(r.Bytes[RecordHeader.Bytes..]);
        rest.CopyTo(r.Bytes[(RecordHeader.Bytes + head.Length)..]);
        lsn = r.Lsn;
        end = r.End;
        Announce(reserved, end);
        Leave(r);
        return true;
    }

    private static void Announce(Action<Lsn>? reserved, Lsn end)
    {
        if (reserved is null) return;
        LockChecks.BeforeCallOut();
        reserved(end);
    }

    private ArgumentOutOfRangeException BadSize(int bytes) =>
        new(nameof(bytes), bytes, $"a reservation is of 1 to {ReserveBytesMax} bytes");
}

/// <summary>Says from which position and hash a new primary goes on to write.</summary>
/// <param name="End">Lsn behind the last page, in the new primary's own segment.</param>
/// <param name="LastHash">Hash of the last page, in the new segment.</param>
/// <param name="RecordsEnd">End of the last page that is no durable mark.</param>
internal sealed record LogTail(Lsn End, ulong LastHash, Lsn RecordsEnd);
