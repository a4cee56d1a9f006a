using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Reads pages of a log at positions that its caller names, one after another or anywhere, each with all its checks (log-format L4.2, L8).
/// One thread. It opens one segment at a time and follows the chain; a page that should be there and is not, or is damaged, is a halt:
/// <see cref="LogDamage"/>. For a whole log with a verdict at its end there is <see cref="LogScan"/>.
/// </summary>
public sealed class LogReader : IDisposable
{
    /// <summary>Of small pages, read at once.</summary>
    private const int DirectBytes = 256 << 10;

    /// <summary>So near to the end of what is durable the kernel's reading ahead would come upon what is being written.</summary>
    private const long NearBytes = 32 << 20;

    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly LogChain _chain;

    // Guards who holds what: LetGoIfIdle and StopHolding come from other threads.
    private readonly Lock _holding = new();
    private IFile? _held; // the open segment while it is locked, else null
    private volatile bool _holds;
    private long _reads, _readsSeen;

    // The open segment; both null or neither.
    private PageInspector? _inspector;
    private IFile? _file;
    private (IFile File, DirectWindow Pages)? _direct; // where the segment is written past the cache, see SourceOf
    private bool _isNotDirect; // it cannot be read so

    // Of the pages read one after another in the open segment; a read anywhere else begins it anew.
    private readonly PageSequence _pages = new();
    private bool _follows; // _pages holds at least one page of the open segment

    // The position that a checkpoint vouches for.
    private (Lsn Lsn, ulong Hash)? _vouched;

    // Where a page was found unfinished last, and how often.
    private Lsn _lookedAt;
    private long _looks;

    /// <param name="dir">The replica set's directory; the chain names the files in it.</param>
    /// <param name="holds">Keeps the segment that it reads locked shared, so that no truncation takes it, until it reads another one, is
    /// closed, or rests.</param>
    public LogReader(IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, bool holds = false)
    {
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _chain = chain;
        _holds = holds;
    }

    /// <summary>Highest position that a page or seal read so far states as durable: what a replica may act on (F3).</summary>
    public Lsn Stated { get; private set; }

    /// <summary>Pages from here on are written while the reader is at work; those below were there before.</summary>
    public Lsn LiveFrom { get; set; } = new(ulong.MaxValue);

    /// <summary>Tells the reader of a position that is durable by other knowledge: a page below it that is not there is a halt.</summary>
    public void Expect(Lsn durable)
    {
        if (durable > Stated) Stated = durable;
    }

    /// <summary>
    /// Tells the reader the hash of the page before <paramref name="pageLsn"/>, from a checkpoint: the chain is then checked from there.
    /// </summary>
    public void Vouch(Lsn pageLsn, ulong previousHash) => _vouched = (pageLsn, previousHash);

    /// <summary>Looks for new segments: a follower at the tail. True when there are.</summary>
    public bool RefreshChain() => _chain.Refresh(_fs, _dir, _identity);

    /// <summary>
    /// Reads the page at <paramref name="pageLsn"/>. A tail that is blank is not searched behind: <see cref="TakeOver"/> does that.
    /// </summary>
    /// <exception cref="LogDamage">L8.2.</exception>
    public ReadStatus Read(Lsn pageLsn, ref PageBuffer buffer)
    {
        if (!_chain.TryFind(pageLsn, out LogSegment segment, out Lsn end))
            return _chain.Segments.IsEmpty ? ReadStatus.AtTail : ReadStatus.Gone;
        Interlocked.Increment(ref _reads);
        if (!TryOpen(segment, pageLsn) || !TryHold()) return ReadStatus.Gone;
        if (segment.FirstLsn > Stated) Stated = segment.FirstLsn;
        bool isLast = end.Value == ulong.MaxValue;
        if (!isLast && end > Stated) Stated = end;

        PageFault? fault = Inspect(pageLsn, end, ref buffer);
        if (fault is not null && (!isLast || pageLsn < Stated || !fault.IsNothing))
        {
            if (IsGone()) return ReadStatus.Gone;
            try
            {
                fault = Judge(fault, pageLsn, end, isLast, ref buffer);
            }
            catch (LogDamage) when (IsGone()) // it was recycled while it was judged
            {
                return ReadStatus.Gone;
            }
        }
        if (fault is not null) return ReadStatus.AtTail;
        Accept(pageLsn, buffer);
        return ReadStatus.Page;
    }

    /// <summary>The damage of a page that this process needs and nobody truncated for good reason (log-format L3.2).</summary>
    public LogDamage Missing(Lsn pageLsn) =>
        new(_dir, 0, pageLsn, $"a segment that holds the page of Lsn {pageLsn}, which is durable", "none");

    /// <summary>
    /// Lets go of the segment if nothing was read since the last time that this was asked: who stands still must not keep a log from
    /// being truncated. Any thread.
    /// </summary>
    public void LetGoIfIdle()
    {
        long reads = Interlocked.Read(ref _reads);
        if (Interlocked.Exchange(ref _readsSeen, reads) == reads) LetGo();
    }

    /// <summary>From here on nothing is held. Any thread.</summary>
    public void StopHolding()
    {
        _holds = false;
        LetGo();
    }

    public void Dispose() => Close();

    private void LetGo()
    {
        lock (_holding)
        {
            _held?.Unlock();
            _held = null;
        }
    }

    private void Close()
    {
        lock (_holding)
        {
            _held = null;
            _file?.Dispose();
            _file = null;
            _direct?.File.Dispose();
            _direct = null;
        }
    }

    /// <summary>Holds the open segment, again if it was let go. False: it was truncated meanwhile.</summary>
    private bool TryHold()
    {
        lock (_holding)
        {
            if (!_holds || _held is not null) return true;
            if (!_file!.TryLock(FileLockKind.Shared)) return false;
            if (!_inspector!.Segment.IsStillIn(_file))
            {
                _file.Unlock();
                return false;
            }
            _held = _file;
            return true;
        }
    }

    private bool TryOpen(LogSegment segment, Lsn pageLsn)
    {
        if (_inspector is not null && _inspector.Segment == segment) return true;
        bool isNext = CheckSeal(segment, pageLsn);
        if (SegmentOpening.TryOpen(_fs, segment, isHeld: false) is not { } file) return false;
        Close();
        _file = file;
        _isNotDirect = !segment.Header.IsDirect;
        _inspector = new PageInspector(segment);
        _follows = isNext;
        if (isNext) _pages.Begin(segment.Header);
        return true;
    }

    /// <summary>
    /// A follower, and who is behind a log that grows, leave the cache alone: a copy out of it costs them more than the waiting. Who
    /// replays waits for nothing else, and is helped by the kernel's reading ahead.
    /// </summary>
    private IReadable SourceOf(Lsn lsn, Lsn end)
    {
        bool isNearEnd = end.Value == ulong.MaxValue && lsn + NearBytes >= Stated;
        if (_isNotDirect || !(_holds || lsn >= LiveFrom || isNearEnd)) return _file!;
        _direct ??= TryOpenDirect(_inspector!.Segment);
        _isNotDirect = _direct is null;
        if (_direct is not { Pages: var pages }) return _file!;
        pages.Limit = _inspector!.Segment.Header.OffsetOf(end < Stated ? end : Stated); // below it nothing changes any more (F3)
        return pages;
    }

    /// <summary>A second opening: the first one's reads of the header are of any size.</summary>
    private (IFile, DirectWindow)? TryOpenDirect(LogSegment segment)
    {
        if (SegmentOpening.TryOpen(_fs, segment, isHeld: false) is not { } file) return null;
        if (DirectWindow.TryMake(file, DirectBytes) is { } pages) return (file, pages);
        file.Dispose();
        return null;
    }

    /// <summary>
    /// Crossing from a segment to its successor: what was read must be what the seal says stood before it. False: it is a jump.
    /// </summary>
    private bool CheckSeal(LogSegment next, Lsn pageLsn)
    {
        if (!_follows || _pages.Next != pageLsn || pageLsn != next.FirstLsn) return false;
        SegmentHeader header = next.Header, last = _inspector!.Segment.Header;
        if (header.PredecessorNumber != last.Number || header.PredecessorEpoch != last.Epoch) return false;
        _pages.CheckSeal(next);
        return true;
    }

    private PageFault? Inspect(Lsn lsn, Lsn end, ref PageBuffer buffer)
    {
        PageFault? fault = _inspector!.Read(SourceOf(lsn, end), lsn, end, PreviousHashOf(lsn), ref buffer);
        return fault is null && _follows && _pages.Next == lsn ? _pages.Check(buffer) : fault;
    }

    private void Accept(Lsn lsn, PageBuffer page)
    {
        if (!_follows || _pages.Next != lsn) _pages.Begin(lsn, null);
        _pages.Accept(page, _inspector!.Segment);
        _follows = true;
        if (page.DurableUpTo > Stated) Stated = page.DurableUpTo;
    }

    private ulong? PreviousHashOf(Lsn lsn)
    {
        if (_follows && _pages.Next == lsn) return _pages.Hash;
        if (lsn == _inspector!.Segment.FirstLsn) return _inspector.Segment.Header.PredecessorHash;
        return _vouched is { } vouched && vouched.Lsn == lsn ? vouched.Hash : null;
    }

    /// <summary>
    /// A page is not what it should be: was the file recycled under this reader? Its header says so before anything
    /// else in it changes (L3.5).
    /// </summary>
    private bool IsGone() => !_inspector!.Segment.IsStillIn(_file!);

    /// <summary>Halts unless the page turns out to be valid at a second look, or torn (L8.1, L8.2).</summary>
    private PageFault? Judge(PageFault fault, Lsn lsn, Lsn end, bool isLast, ref PageBuffer buffer)
    {
        Lsn stated = isLast ? Stated : end;
        _direct?.Pages.Drop();
        if (stated <= lsn)
        {
            if (!IsSearchDue(lsn)) return Inspect(lsn, end, ref buffer);
            var search = new BehindSearch(_inspector!, _file!);
            search.Run(lsn, fault, end, false, ref buffer);
            stated = search.Stated;
        }
        if (Inspect(lsn, end, ref buffer) is not { } again) return null;
        if (stated <= lsn && !again.IsIntact) return again;
        throw _inspector!.Segment.DamageAt(lsn, again, stated > lsn ? $"{stated} is stated to be durable" : TailJudge.Intact);
    }

    /// <summary>
    /// A search reads the rest of the file, so a follower that waits at the same unfinished page searches at its 1st, 2nd, 4th, 8th … look.
    /// </summary>
    private bool IsSearchDue(Lsn lsn)
    {
        _looks = lsn == _lookedAt ? _looks + 1 : 1;
        _lookedAt = lsn;
        return long.IsPow2(_looks);
    }
}
