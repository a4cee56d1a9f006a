using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The primary's end of the log. Any thread reserves, fills and leaves (one compare-and-swap each way, no lock, no allocation); one
/// committer at a time takes sealed pages as a group, writes, flushes, checks the fence and completes. Nothing here waits: a pump does, and
/// obeys the answers. Invariant: Durable ≤ Sealed ≤ Tail, checked at every step; what is Durable was flushed and fence-checked.
/// </summary>
public sealed class LogWriter : IDisposable
{
    private readonly LogOptions _options;
    private readonly TimeProvider _time;
    private readonly SegmentStore _store;
    private readonly PagePool _pool;
    private readonly CommitGroup _group;
    private readonly Epoch _epoch;
    private readonly uint _seed;

    // Of the last page stamped; the committer's.
    private ulong _lastHash;
    private long _lastTimeMicros;

    private ulong _durable;     // grows only in Complete
    private ulong _stated;      // ≤ _durable: highest durableUpTo or seal on disk
    private ulong _recordsEnd;  // ≤ _durable: end of the last durable page that is no mark
    private int _committing;    // 1: a group is out
    private int _awaitsSpace;   // 1: a group waits until space is set aside and zeroed for it
    // 1: the committer waits for a Leave; so it does before its first step, and the first Leave must not be lost on it
    private int _isIdle = 1;

    internal LogWriter(
        InstanceIdentity identity, Fence fence, LogOptions options, TimeProvider time, ICrashPoints crash, SegmentStore store,
        LogMetrics metrics, LogTail tail)
    {
        Metrics = metrics;
        _options = options;
        _time = time;
        _store = store;
        _epoch = fence.Epoch;
        _seed = PageHeader.SeedOf(identity.Uuid, identity.Shard);
        _group = new CommitGroup(store, fence, Metrics, crash);
        _pool = new PagePool(options.PageBytes, options.Pages, options.PagesKept, Math.Min(options.SpanningBytes, options.SegmentBytes / 4),
            tail.Verdict.End);
        _lastHash = tail.LastHash;
        _lastTimeMicros = store.Header.CreatedMicros; // not before any page that stands before
        _durable = tail.Verdict.End.Value;
        _stated = store.Header.FirstLsn.Value;
        _recordsEnd = tail.RecordsEnd.Value;
    }

    public Epoch Epoch => _epoch;

    /// <summary>Behind the last byte reserved; equal to <see cref="Sealed"/> while the open page is empty.</summary>
    public Lsn Tail => _pool.Tail;

    /// <summary>Every page below is sealed.</summary>
    public Lsn Sealed => _pool.Sealed;

    /// <summary>Every page below is flushed and fence-checked: it may be acknowledged, delivered and emitted on.</summary>
    public Lsn Durable => new(Volatile.Read(ref _durable));

    /// <summary>
    /// Highest position that a durable page or seal states as durable: what followers act on, and what a published checkpoint needs.
    /// </summary>
    public Lsn Stated => new(Volatile.Read(ref _stated));

    /// <summary>Most bytes of records that one reservation can hold; a larger record spans pages.</summary>
    public int ReserveBytesMax => _options.PageBytes - PageHeader.Bytes;

    /// <summary>Distance of digest positions in this log (log-format L5.7).</summary>
    public ulong DigestEvery => _store.Header.DigestEvery;

    /// <summary>Version of the app that later segments state; the committer changes it with an Upgrade record.</summary>
    public uint AppVersion
    {
        get => _store.AppVersion;
        set => _store.AppVersion = value;
    }

    public LogMetrics Metrics { get; }

    /// <summary>
    /// Reserves room for one or several whole records. False: every page is filled and the disk is behind; try again after a commit.
    /// </summary>
    /// <param name="bytes">Record headers included, 1 to <see cref="ReserveBytesMax"/>.</param>
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
            bool isOpen = _pool.TryTurn(bytes, out LogPage? filled);
            if (filled is not null) AddUp(filled);
            if (isOpen) continue;
            Metrics.CountNoRoom();
            r = default;
            return false;
        }
    }

    /// <summary>The committer would find the records in a cache that is not its own, while the disk waits.</summary>
    private static void AddUp(LogPage filled)
    {
        filled.PayloadCrc = Crc32C.Of(RecordsOf(filled));
        filled.State.Leave();
    }

    private static ReadOnlySpan<byte> RecordsOf(LogPage page) => page.Bytes[PageHeader.Bytes..PageState.EndOf(page.State.Word)];

    /// <summary>The reserved bytes are written. True: the committer is idle; commit or wake it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Leave(in Reservation r)
    {
        r.Page.State.Leave();
        return Volatile.Read(ref _isIdle) != 0 && Interlocked.Exchange(ref _isIdle, 0) != 0;
    }

    /// <summary>
    /// Appends one record of any size; one that does not fit a page takes pages of its own. Its body is head followed by rest.
    /// False: not now, because enough of others is on its way, or there is no room. After true the caller wakes the committer.
    /// </summary>
    /// <param name="lsn">Of the record's first byte.</param>
    /// <param name="end">The record is durable when Durable is at or above it.</param>
    /// <param name="reserved">Is told the end before anybody can commit the record.</param>
    public bool TryAppendSpanning(
        RecordKind kind, ReadOnlySpan<byte> bodyHead, ReadOnlySpan<byte> bodyRest, out Lsn lsn, out Lsn end, Action<Lsn>? reserved = null)
    {
        long record = RecordHeader.Bytes + (long)bodyHead.Length + bodyRest.Length;
        if (record - RecordHeader.Bytes > _options.RecordBytesMax)
            throw new ArgumentException($"a record of {record} bytes exceeds what a message limit of {_options.MessageBytesMax} allows");
        if (record <= ReserveBytesMax) return TryAppendSmall(kind, bodyHead, bodyRest, (int)record, out lsn, out end, reserved);
        lsn = end = default;
        if (!_pool.TryAdmitSpanning(record)) return false;
        List<LogPage> pages = SpanningPages.Make(_options.PageBytes, _pool.TakeSpare, kind, bodyHead, bodyRest);
        lsn = _pool.AppendSpanning(pages, reserved, out end) + PageHeader.Bytes;
        return true;
    }

    /// <summary>Takes all sealed pages as one group; the open page is sealed if none waits. One group at a time.</summary>
    public CommitAnswer Begin(out CommitGroup? group)
    {
        group = null;
        while (true)
        {
            if (Interlocked.CompareExchange(ref _committing, 1, 0) != 0) return CommitAnswer.Busy;
            CommitAnswer answer = _group.PageCount > 0 ? CommitAnswer.Ready : _pool.Take(_group.Pages);
            if (answer == CommitAnswer.Ready)
            {
                if (_store.HasRoomFor(_group.Bytes, _group.IsMark)) break;
                Volatile.Write(ref _awaitsSpace, 1);
                Interlocked.Exchange(ref _committing, 0);
                return CommitAnswer.AwaitingSpace;
            }
            // A writer leaves first and looks at the flag then; so raise the flag first and look at the pages then.
            Interlocked.Exchange(ref _isIdle, 1);
            Interlocked.Exchange(ref _committing, 0);
            if (!_pool.HasReady) return answer;
        }
        Volatile.Write(ref _isIdle, 0);
        Volatile.Write(ref _awaitsSpace, 0);
        ulong hashBefore = _lastHash;
        long now = Math.Max(_lastTimeMicros, (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond);
        foreach (LogPage page in _group.Pages) Stamp(page, now);
        _lastTimeMicros = now;
        _group.Begin(hashBefore, now);
        if (_group.Start != Durable || _group.End > Sealed)
            throw new InvalidOperationException($"group {_group.Start}–{_group.End} between Durable {Durable} and Sealed {Sealed}");
        group = _group;
        return CommitAnswer.Ready;
    }

    /// <summary>Durable advances to the group's end. Call <see cref="Begin"/> again afterwards, until it has no group.</summary>
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
        _pool.Complete(group.Pages); // from here on they may be used again
        Volatile.Write(ref _durable, group.End.Value);
        Volatile.Write(ref _stated, stated);
        if (!isMark) Volatile.Write(ref _recordsEnd, group.End.Value);
        else Metrics.CountMark();
        Metrics.CountGroup();
        group.Reset();
        Volatile.Write(ref _committing, 0);
    }

    /// <summary>Something durable is stated nowhere on disk, and nothing else is under way (log-format L4.4).</summary>
    public bool MarkDue => Volatile.Read(ref _stated) < Volatile.Read(ref _recordsEnd) && _pool.IsQuiet;

    /// <summary>Queues a durable mark; false when none is due. Begin and the steps of the group follow as usual.</summary>
    public bool AppendMark() => Volatile.Read(ref _stated) < Volatile.Read(ref _recordsEnd) && _pool.TryAppendMark();

    /// <summary>Holds a durable page that is still in memory; false: read it from the segment. At most two are held at a time.</summary>
    public bool TryPin(Lsn pageLsn, out PinnedPage page) => _pool.TryPin(pageLsn, out page);

    /// <summary>
    /// One step of setting space aside, zeroing ahead of the tail, or making the next segment's file; for a pump of its own. True: there is
    /// more to do. A full disk is no failure: <see cref="IsSpaceShort"/> says so, and the next step tries again.
    /// </summary>
    /// <exception cref="IOException">Exit 74.</exception>
    public bool PrepareSpace() => _store.Prepare();

    /// <summary>The disk is full: what was reserved waits, and soon nothing more is.</summary>
    public bool IsSpaceShort => _store.IsShort;

    /// <summary>A group waits for space or for zeros; whoever has prepared some wakes the committer.</summary>
    public bool IsAwaitingSpace => Volatile.Read(ref _awaitsSpace) != 0;

    /// <inheritdoc cref="SegmentStore.Release"/>
    public SegmentRelease Release(LogSegment oldest) => _store.Release(oldest);

    /// <inheritdoc cref="SegmentStore.RemoveOrphans"/>
    public int RemoveOrphans() => _store.RemoveOrphans();

    /// <summary>When every thread that uses it has ended. It writes nothing.</summary>
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
        reserved?.Invoke(end);
        Leave(r);
        return true;
    }

    /// <summary>Completes a page: padding, checksums, and what it states about the log below it.</summary>
    private void Stamp(LogPage page, long now)
    {
        int length = PageState.EndOf(page.State.Word);
        Span<byte> bytes = page.Bytes;
        bytes[length..LogFormat.RoundUp(length)].Clear();
        page.Header = new PageHeader(
            length, page.Flags, _epoch, page.Lsn, Durable, now, _lastHash, page.PayloadCrc ?? Crc32C.Of(RecordsOf(page)), page.Remaining);
        page.Header.Write(bytes, _seed);
        _lastHash = PageHeader.HashOf(bytes);
    }

    private ArgumentOutOfRangeException BadSize(int bytes) =>
        new(nameof(bytes), bytes, $"a reservation is of 1 to {ReserveBytesMax} bytes");
}
