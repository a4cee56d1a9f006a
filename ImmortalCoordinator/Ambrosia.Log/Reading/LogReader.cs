using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Reads pages of a log at positions that its caller names, one after another or anywhere, each with all its checks (log-format L4.2, L8).
/// It opens one segment at a time and follows the chain. A page that should be there and is not, or is damaged, is a halt:
/// <see cref="LogDamage"/>. <see cref="LogScan"/> reads a whole log and ends in a verdict. One thread, except where a member says
/// otherwise.
/// </summary>
public sealed class LogReader : IDisposable
{
    /// <summary>So near to the end of what is durable the kernel would read ahead into what is being written.</summary>
    private const long NearBytes = 32 << 20;

    private readonly LogLocation _location;
    private readonly LogChain _chain;
    private readonly OpenSegment _open;

    // What the pages read one after another in the open segment say of the next; a read anywhere else begins it anew.
    private readonly PageSequence _pages = new();
    private bool _follows; // _pages holds at least one page of the open segment

    // Where a page was found unfinished last, and how often.
    private Lsn _lookedAt;
    private long _looks;

    /// <param name="dir">The replica set's directory; the chain names the files in it.</param>
    /// <param name="holds">True keeps the segment that it reads locked shared, so that no truncation takes it, until the reader reads
    /// another one, is closed, or rests.</param>
    public LogReader(IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, bool holds = false)
    {
        _location = new LogLocation(fs, dir, identity);
        _chain = chain;
        _open = new OpenSegment(fs, holds);
    }

    /// <summary>
    /// The highest position that a page or seal read so far states as durable: a replica may act on what lies below (F3).
    /// </summary>
    public Lsn Stated { get; private set; }

    /// <summary>Pages from here on are written while the reader is at work; those below existed before.</summary>
    public Lsn LiveFrom { get; set; } = new(ulong.MaxValue);

    /// <summary>Tells the reader of a position that is known to be durable: a page below it that is not there is a halt.</summary>
    public void Expect(Lsn durable)
    {
        if (durable > Stated) Stated = durable;
    }

    /// <summary>Looks for new segments, for a follower at the tail. Returns true when there are any.</summary>
    public bool RefreshChain() => _chain.Refresh(_location);

    /// <summary>
    /// Reads the page at <paramref name="pageLsn"/>. Behind a tail that is blank it does not search; only a take-over does that.
    /// </summary>
    /// <exception cref="LogDamage">The log halts here (L8.2).</exception>
    public ReadStatus Read(Lsn pageLsn, ref PageBuffer buffer)
    {
        if (!_chain.TryFind(pageLsn, out LogSegment segment, out Lsn end))
            return _chain.Segments.IsEmpty ? ReadStatus.AtTail : ReadStatus.Truncated;
        _open.CountRead();
        if (!TryOpen(segment, pageLsn) || !_open.TryHold()) return ReadStatus.Truncated;
        if (segment.FirstLsn > Stated) Stated = segment.FirstLsn;
        bool isLast = end.Value == ulong.MaxValue;
        if (!isLast && end > Stated) Stated = end;

        PageFault? fault = Inspect(pageLsn, end, ref buffer);
        if (fault is not null && (!isLast || pageLsn < Stated || !fault.IsNothing))
        {
            if (_open.IsGone()) return ReadStatus.Truncated;
            try
            {
                fault = Confirm(fault, pageLsn, end, isLast, ref buffer);
            }
            catch (LogDamage) when (_open.IsGone()) // it was recycled while the fault was confirmed
            {
                return ReadStatus.Truncated;
            }
        }
        if (fault is not null) return ReadStatus.AtTail;
        Accept(pageLsn, buffer);
        return ReadStatus.Page;
    }

    /// <summary>Makes the damage of a page that this process needs and that nobody truncated for good reason (log-format L3.2).</summary>
    public LogDamage MissingPage(Lsn pageLsn) =>
        new(_location.Directory, 0, pageLsn, $"a segment that holds the page of Lsn {pageLsn}, which is durable", "none");

    /// <summary>
    /// Releases the segment if nothing was read since the last call: a reader that stands still must not keep a log from being truncated.
    /// Any thread.
    /// </summary>
    public void ReleaseIfIdle() => _open.ReleaseIfIdle();

    /// <summary>Releases the segment, and holds none from here on. Any thread.</summary>
    public void StopHolding() => _open.StopHolding();

    public void Dispose() => _open.Dispose();

    private bool TryOpen(LogSegment segment, Lsn pageLsn)
    {
        if (_open.Is(segment)) return true;
        bool isNext = CheckSeal(segment, pageLsn);
        if (!_open.TryChangeTo(segment)) return false;
        _follows = isNext;
        if (isNext) _pages.Begin(segment.Header);
        return true;
    }

    /// <summary>
    /// Chooses the opening to read from. A follower, and a reader close behind the end of a growing log, bypass the cache: a copy out of it
    /// costs them more than the waiting. A replay waits for nothing else, so it asks for what comes next ahead of time.
    /// </summary>
    private IReadable SourceOf(Lsn lsn, Lsn end)
    {
        bool isNearEnd = end.Value == ulong.MaxValue && lsn + NearBytes >= Stated;
        Lsn limit = end < Stated ? end : Stated;
        if (lsn >= LiveFrom || isNearEnd) return _open.PastCache(limit);
        if (_follows && _pages.Next == lsn) _open.ReadAhead(lsn, limit);
        return _open.File;
    }

    /// <summary>
    /// Checks the seal where reading crosses from a segment to its successor: what was read must be what the seal says stood before it.
    /// Returns false when the read is a jump.
    /// </summary>
    private bool CheckSeal(LogSegment next, Lsn pageLsn)
    {
        if (!_follows || _pages.Next != pageLsn || pageLsn != next.FirstLsn) return false;
        SegmentHeader header = next.Header, last = _open.Segment.Header;
        if (header.PredecessorNumber != last.Number || header.PredecessorEpoch != last.Epoch) return false;
        _pages.CheckSeal(next);
        return true;
    }

    private PageFault? Inspect(Lsn lsn, Lsn end, ref PageBuffer buffer)
    {
        PageFault? fault = _open.Inspector.Read(SourceOf(lsn, end), lsn, end, PreviousHashOf(lsn), ref buffer);
        return fault is null && _follows && _pages.Next == lsn ? _pages.Check(buffer) : fault;
    }

    private void Accept(Lsn lsn, PageBuffer page)
    {
        if (!_follows || _pages.Next != lsn) _pages.Begin(lsn, null);
        _pages.Accept(page, _open.Segment);
        _follows = true;
        if (page.DurableUpTo > Stated) Stated = page.DurableUpTo;
    }

    private ulong? PreviousHashOf(Lsn lsn)
    {
        if (_follows && _pages.Next == lsn) return _pages.Hash;
        return lsn == _open.Segment.FirstLsn ? _open.Segment.Header.PredecessorHash : null;
    }

    /// <summary>Looks at a faulty page again, and halts unless it is valid now, or torn (L8.1, L8.2).</summary>
    private PageFault? Confirm(PageFault fault, Lsn lsn, Lsn end, bool isLast, ref PageBuffer buffer)
    {
        Lsn stated = isLast ? Stated : end;
        _open.DropReadAhead();
        if (stated <= lsn)
        {
            if (!IsSearchDue(lsn)) return Inspect(lsn, end, ref buffer);
            var scan = new ResyncScan(_open.Inspector, _open.File);
            scan.Search(lsn, fault, end, false, ref buffer);
            stated = scan.Stated;
        }
        if (Inspect(lsn, end, ref buffer) is not { } again) return null;
        if (stated <= lsn && again.WhyNeverTorn is null) return again;
        throw _open.Segment.DamageAt(lsn, again, stated > lsn ? $"{stated} is stated to be durable" : again.WhyNeverTorn!);
    }

    /// <summary>
    /// Says whether this look at an unfinished page is worth a search, which reads the rest of the file: the 1st, 2nd, 4th, 8th … look is.
    /// </summary>
    private bool IsSearchDue(Lsn lsn)
    {
        _looks = lsn == _lookedAt ? _looks + 1 : 1;
        _lookedAt = lsn;
        return long.IsPow2(_looks);
    }
}

/// <summary>Says what was found where a page was to be read.</summary>
public enum ReadStatus
{
    /// <summary>The page is in the buffer, and is checked.</summary>
    Page,

    /// <summary>There is no page there yet, and nothing says that there should be one.</summary>
    AtTail,

    /// <summary>The position was truncated: the caller starts from the newest checkpoint.</summary>
    Truncated,
}
