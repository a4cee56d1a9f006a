using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Reads a log from a page to its end, one page after another along the chain, stopping at each seal, and ends in a verdict (log-format
/// L8). It never writes, takes no claim and may read a log that is being written: what changes under it is told from damage, and the
/// segment that it reads is locked shared, so that no truncation takes it. It uses the memory of one page and 80 bytes for each page of the
/// last commit groups. One thread. Use: <c>while (scan.Next()) … scan.Page …; scan.Verdict</c>.
/// </summary>
public sealed class LogScan : IDisposable
{
    private const int FirstBufferBytes = 64 << 10;

    private readonly LogLocation _location;
    private readonly LogChain _chain;
    private readonly bool _goesOn;
    private readonly LogSegment? _last; // segments behind it are not read, since they were not there when reading began; null reads on
    private readonly PageSequence _pages = new();
    private readonly ScanOutcome _outcome = new();
    private PageBuffer _buffer;
    private bool _checksBeginning;
    private ScannedSegment? _open; // the segment that is read; null before the first page
    private Lsn _at; // the page that comes next

    private LogScan(LogLocation location, LogChain chain, ScanOptions options, PageBuffer buffer)
    {
        _location = location;
        _chain = chain;
        _goesOn = options.GoesOn;
        _last = options.EndsWithHead && !chain.Segments.IsEmpty ? chain.Segments[^1] : null;
        _buffer = buffer;
        _checksBeginning = options.From is null;
        _at = From = options.From ?? (chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn);
        _pages.Begin(_at, options.PreviousHash);
    }

    /// <summary>The position where reading began.</summary>
    public Lsn From { get; }

    /// <summary>The page that <see cref="Next"/> found. Its content is valid until the next call.</summary>
    public PageBuffer Page => _buffer;

    /// <summary>The segment that the page stands in.</summary>
    public LogSegment Segment => Current.Segment;

    /// <summary>The log's segments, as they were when a segment was opened last.</summary>
    public LogChain Chain => _chain;

    /// <summary>
    /// Everything below this was read, or is in <see cref="Lost"/>. A progress bar compares it with the end of the last segment's file.
    /// </summary>
    public Lsn Position => _at;

    /// <summary>The highest position that what was read so far states as durable.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>The verdict says how the log ended; it is there once <see cref="Next"/> has returned false.</summary>
    public ReadVerdict? Verdict => _outcome.Verdict;

    /// <summary>The ranges that could not be read, in order. With <see cref="ScanOptions.GoesOn"/> there may be several.</summary>
    public IReadOnlyList<LostRange> Lost => _outcome.Lost;

    /// <summary>
    /// Begins to read the log in the directory of one replica set. Where a segment's header is damaged nobody can say what the log is, and
    /// the verdict is a halt there.
    /// </summary>
    public static LogScan Open(IFileSystem fs, string dir, InstanceIdentity identity, ScanOptions? options = null)
    {
        try
        {
            return Open(fs, dir, identity, LogChain.Load(fs, dir, identity, takesAnyLength: options?.GoesOn == true), options);
        }
        catch (LogDamage damage)
        {
            LogScan scan = Open(fs, dir, identity, new LogChain([]), options);
            scan.EndWithoutChain(damage);
            return scan;
        }
    }

    /// <summary>Begins to read a log whose chain is known.</summary>
    /// <param name="buffer">Memory to begin with; it grows to the largest page.</param>
    public static LogScan Open(
        IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, ScanOptions? options = null, PageBuffer? buffer = null) =>
            new(new LogLocation(fs, dir, identity), chain, options ?? new ScanOptions(), buffer ?? new PageBuffer(FirstBufferBytes));

    /// <summary>Reads the next page with all its checks. Returns false when there is no more; <see cref="Verdict"/> says why.</summary>
    /// <exception cref="IOException">The disk failed.</exception>
    public bool Next()
    {
        while (Verdict is null)
        {
            try
            {
                if (!IsInSegment() && !TryEnter()) return false;
                if (TryRead()) return true;
            }
            catch (LogDamage damage)
            {
                HandleDamage(damage);
            }
        }
        return false;
    }

    public void Dispose() => _open?.Dispose();

    private ScannedSegment Current => _open ?? throw new InvalidOperationException("no page has been read");

    private bool IsInSegment() => _open is not null && _at < _open.End;

    /// <summary>Opens the segment that holds the next page. Returns false when there is a verdict.</summary>
    private bool TryEnter()
    {
        if (_chain.Segments.IsEmpty) return End(new ReadVerdict.CleanEnd(_at, _at));
        if (_checksBeginning) CheckBeginning();
        if (!_chain.TryFind(_at, out LogSegment segment, out Lsn end)
            || ScannedSegment.TryOpen(segment, _location.Files) is not { } entered)
            return End(new ReadVerdict.Truncated(_at, Stated));
        if (_last is not null && segment.Name.CompareTo(_last.Name) > 0)
        {
            entered.Dispose();
            return End(new ReadVerdict.CleanEnd(_at, Stated));
        }
        bool follows = _open is not null && _pages.Next == _at && _pages.Hash is not null;
        _open?.Dispose();
        _open = entered;
        _open.End = end;
        State(_open.IsLast ? segment.FirstLsn : end);
        if (_at != segment.FirstLsn) return true;
        if (follows) _pages.CheckSeal(segment);
        _pages.Begin(segment.Header);
        return true;
    }

    private void CheckBeginning()
    {
        _checksBeginning = false;
        LogBeginning.Check(_location, _chain.Segments[0]);
    }

    /// <summary>Reads the page at the position. After true it is in the buffer; after false the segment has ended, or the log.</summary>
    private bool TryRead()
    {
        Current.ReadAhead(_at);
        PageFault? fault = Inspect();
        if (fault is null)
        {
            _pages.Accept(_buffer, Segment);
            State(_buffer.DurableUpTo);
            _at = _buffer.Next;
            return true;
        }
        if (!Segment.IsStillIn(Current.File)) return End(new ReadVerdict.Truncated(_at, Stated));
        if (Current.IsLast && HasGrown()) return false;
        if (Inspect() is not { } again) return TryRead(); // the page was being written
        if (Current.IsLast) return ClassifyTail(again);
        return HandleDamage(Segment.DamageAt(_at, again, $"{Current.End} is stated to be durable by the seal there"));
    }

    private PageFault? Inspect() =>
        Current.Inspector.Read(Current.File, _at, Current.End, _pages.Next == _at ? _pages.Hash : null, ref _buffer)
            ?? _pages.Check(_buffer);

    /// <summary>
    /// Refreshes the chain of a live log, whose last segment may have been sealed since. Returns true when it has: the page is then found,
    /// or missed, in the light of that seal. What a take-over logged again behind a seal is read again.
    /// </summary>
    private bool HasGrown()
    {
        try
        {
            if (!_chain.Refresh(_location)) return false;
        }
        catch (LogDamage damage)
        {
            return !EndWithoutChain(damage);
        }
        int i = _chain.Segments.IndexOf(Segment);
        if (i < 0) return !End(new ReadVerdict.Truncated(_at, Stated));
        if (i == _chain.Segments.Length - 1) return false;
        Current.End = _chain.Segments[i + 1].FirstLsn;
        State(Current.End);
        if (_at > Current.End) _at = Current.End;
        return true;
    }

    private bool ClassifyTail(PageFault fault)
    {
        if (Stated > _at) return HandleDamage(Segment.DamageAt(_at, fault, $"{Stated} is stated to be durable"));
        Lsn damage = _at;
        ulong? before = _pages.Next == damage ? _pages.Hash : null;
        _pages.DropIncomplete(Segment);
        ReadVerdict verdict = new TailClassifier(_location, Current.Inspector).Classify(Current.File, _pages, damage, fault, ref _buffer);
        if (verdict is ReadVerdict.Halt halt)
        {
            if (WasWrittenMeanwhile(damage, before)) return TryRead();
            return !HasGoneOnMeanwhile() && HandleDamage(halt.Damage);
        }
        _at = verdict.End;
        return End(verdict with { DurableUpTo = Stated });
    }

    /// <summary>
    /// Returns true when the missing page of a live log has been written since it was looked at. Reading goes on there, once for each
    /// place; an incomplete spanning record is read again from its beginning.
    /// </summary>
    private bool WasWrittenMeanwhile(Lsn damage, ulong? before)
    {
        if (Current.LookedAgainAt == damage
            || Current.Inspector.Read(Current.File, damage, Current.End, before, ref _buffer) is not null) return false;
        Current.LookedAgainAt = damage;
        if (_pages.Next >= damage) return true;
        _at = _pages.Next;
        _pages.Begin(_at, _pages.Hash);
        return true;
    }

    /// <summary>
    /// Returns true when a live log has rotated since, so that what states the missing page (mostly a checkpoint) is about pages of a
    /// successor. Reading goes on in the light of that segment's seal.
    /// </summary>
    private bool HasGoneOnMeanwhile()
    {
        if (!HasGrown()) return false;
        if (_pages.Next >= _at) return true;
        _at = _pages.Next;
        _pages.Begin(_at, _pages.Hash);
        return true;
    }

    /// <summary>Ends the scan with a halt: the segments' headers make no chain, so that nothing more can be read.</summary>
    private bool EndWithoutChain(LogDamage damage)
    {
        _outcome.Lose(_at, _at, damage);
        return End(new ReadVerdict.Halt(_at, damage, Stated));
    }

    /// <summary>Ends with a halt, or notes what is lost and finds the place where reading goes on.</summary>
    private bool HandleDamage(LogDamage damage)
    {
        bool isHeader = damage.Offset < SegmentHeader.Bytes; // the header is wrong about the segment before; this segment can be read
        Lsn from = _at;
        Lsn? goOn = !_goesOn ? null : isHeader ? from : FindNext();
        _outcome.Lose(isHeader && _open is null ? Lsn.Zero : from, goOn ?? from, damage);
        if (goOn is not { } next) return End(new ReadVerdict.Halt(from, damage, Stated));
        _at = next;
        _pages.Begin(next, null); // the page itself states what stood before it
        return false;
    }

    /// <summary>Returns the next valid page of the segment, or its seal; null when nothing more can be read.</summary>
    private Lsn? FindNext()
    {
        var scan = new ResyncScan(Current.Inspector, Current.File);
        scan.Search(_at, new PageFault("", ""), Current.End, true, ref _buffer);
        return scan.FirstValid ?? (Current.IsLast ? null : Current.End);
    }

    private bool End(ReadVerdict verdict)
    {
        _outcome.End(verdict, Stated);
        return false;
    }

    private void State(Lsn lsn)
    {
        if (lsn > Stated) Stated = lsn;
    }

    /// <summary>States that a range of the log cannot be read, and why.</summary>
    /// <param name="From">The first position that is lost.</param>
    /// <param name="To">Reading goes on here: at the next valid page, or at a seal. After the last of <see cref="Lost"/> it may not go on
    /// at all.</param>
    /// <param name="Why">What was expected there and what was found.</param>
    public sealed record LostRange(Lsn From, Lsn To, LogDamage Why)
    {
        /// <summary>The number of bytes of log that are lost: pages, their headers and padding.</summary>
        public long Bytes => To - From;
    }
}

/// <summary>
/// Keeps what a <see cref="LogScan"/> has found out about the log as a whole: what is lost, and in the end the verdict. The first damage
/// decides the verdict, however much can still be read behind it. One thread.
/// </summary>
internal sealed class ScanOutcome
{
    private readonly List<LogScan.LostRange> _lost = [];

    public ReadVerdict? Verdict { get; private set; }

    public IReadOnlyList<LogScan.LostRange> Lost => _lost;

    /// <summary>Adds a range that cannot be read.</summary>
    public void Lose(Lsn from, Lsn to, LogDamage why) => _lost.Add(new LogScan.LostRange(from, to, why));

    /// <summary>Ends the scan with this verdict, or with a halt at the first damage if there was any.</summary>
    /// <param name="stated">The highest position that what was read states as durable.</param>
    public void End(ReadVerdict verdict, Lsn stated) =>
        Verdict = _lost is [var first, ..] ? new ReadVerdict.Halt(first.From, first.Why, stated) : verdict;
}
