using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Reads a log from a page to its end, one page after another along the chain, stopping at each seal, and ends in a verdict (log-format
/// L8). It never writes, takes no claim and may read a log that is being written: what changes under it is told from damage, and the
/// segment that it reads is locked shared, so that no truncation takes it. Memory is one page and 80 bytes for each page of the last commit
/// groups. One thread. Use: <c>while (scan.Next()) … scan.Page …; scan.Verdict</c>.
/// </summary>
public sealed class LogScan : IDisposable
{
    private const int FirstBufferBytes = 64 << 10;

    private static readonly Lsn s_unbounded = new(ulong.MaxValue);

    private readonly IFileSystem _fs;
    private readonly string _dir;
    private readonly InstanceIdentity _identity;
    private readonly LogChain _chain;
    private readonly bool _goesOn;
    private readonly LogSegment? _last; // what begins behind it was not there when reading began, and is not read; null: read on
    private readonly List<LostStretch> _lost = [];
    private readonly PageSequence _pages = new();
    private PageBuffer _buffer;
    private LogDamage? _first; // the damage that the verdict names
    private bool _checksBeginning;

    // The segment that is read; null before the first page.
    private LogSegment? _segment;
    private PageInspector? _inspector;
    private IFile? _file;
    private Lsn _end; // where it ends by its successor's seal
    private Lsn _at;  // the page that comes next
    private Lsn? _lookedAgainAt; // where a page turned out to have been written while its absence was judged

    private LogScan(IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, ScanOptions options, PageBuffer buffer)
    {
        _buffer = buffer;
        _fs = fs;
        _dir = dir;
        _identity = identity;
        _chain = chain;
        _goesOn = options.GoesOn;
        _last = options.EndsWithHead && !chain.Segments.IsEmpty ? chain.Segments[^1] : null;
        _checksBeginning = options.From is null;
        _at = From = options.From ?? (chain.Segments.IsEmpty ? Lsn.Zero : chain.Segments[0].FirstLsn);
        _pages.Begin(_at, options.PreviousHash);
    }

    /// <summary>Where reading began.</summary>
    public Lsn From { get; }

    /// <summary>The page that <see cref="Next"/> found. Its content is valid until the next call.</summary>
    public PageBuffer Page => _buffer;

    /// <summary>The segment that the page stands in.</summary>
    public LogSegment Segment => _segment ?? throw new InvalidOperationException("no page has been read");

    /// <summary>The log's segments, as they were when a segment was opened last.</summary>
    public LogChain Chain => _chain;

    /// <summary>
    /// Everything below was read, or is in <see cref="Lost"/>: for a progress bar, against the end of the last segment's file.
    /// </summary>
    public Lsn Position => _at;

    /// <summary>Highest position that what was read states as durable.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>Set once <see cref="Next"/> is false.</summary>
    public ReadVerdict? Verdict { get; private set; }

    /// <summary>What could not be read, in order; with <see cref="ScanOptions.GoesOn"/> there may be several.</summary>
    public IReadOnlyList<LostStretch> Lost => _lost;

    /// <summary>
    /// Begins to read a log; the directory of one replica set. Where a segment's header is damaged nobody can say what the log is: the
    /// verdict is a halt there.
    /// </summary>
    public static LogScan Open(IFileSystem fs, string dir, InstanceIdentity identity, ScanOptions? options = null)
    {
        try
        {
            return Open(fs, dir, identity, LogChain.Load(fs, dir, identity), options);
        }
        catch (LogDamage damage)
        {
            LogScan scan = Open(fs, dir, identity, new LogChain([]), options);
            scan.Break(damage);
            return scan;
        }
    }

    /// <summary>Begins to read a log whose chain is known.</summary>
    /// <param name="buffer">Memory to begin with; it grows to the largest page.</param>
    public static LogScan Open(
        IFileSystem fs, string dir, InstanceIdentity identity, LogChain chain, ScanOptions? options = null, PageBuffer? buffer = null) =>
            new(fs, dir, identity, chain, options ?? new ScanOptions(), buffer ?? new PageBuffer(FirstBufferBytes));

    /// <summary>Reads the next page with all its checks. False: there is no more, <see cref="Verdict"/> says why.</summary>
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
                Suffer(damage);
            }
        }
        return false;
    }

    public void Dispose()
    {
        _file?.Dispose();
        _file = null;
    }

    private bool IsInSegment() => _segment is not null && _at < _end;

    /// <summary>Opens the segment that holds the next page. False: there is a verdict.</summary>
    private bool TryEnter()
    {
        if (_chain.Segments.IsEmpty) return End(new ReadVerdict.Whole(_at, _at));
        CheckBeginning();
        if (!_chain.TryFind(_at, out LogSegment segment, out Lsn end) || !TryOpen(segment)) return End(new ReadVerdict.Gone(_at, Stated));
        if (_last is not null && segment.Name.CompareTo(_last.Name) > 0) return End(new ReadVerdict.Whole(_at, Stated));
        bool follows = _segment is not null && _pages.Next == _at && _pages.Hash is not null;
        _segment = segment;
        _inspector = new PageInspector(segment);
        _end = end;
        State(end == s_unbounded ? segment.FirstLsn : end);
        if (_at != segment.FirstLsn) return true;
        if (follows) _pages.CheckSeal(segment);
        _pages.Begin(segment.Header);
        return true;
    }

    private bool TryOpen(LogSegment segment)
    {
        if (SegmentOpening.TryOpen(_fs, segment, isHeld: true) is not { } file) return false;
        _file?.Dispose();
        _file = file;
        return true;
    }

    /// <summary>A log that does not begin at 0 was truncated, below a checkpoint; else a segment is missing (L3.2).</summary>
    private void CheckBeginning()
    {
        if (!_checksBeginning) return;
        _checksBeginning = false;
        LogSegment oldest = _chain.Segments[0];
        if (oldest.Header.PredecessorNumber == 0) return;
        if (IsBelowACheckpoint(oldest.FirstLsn)) return;
        var missing = new SegmentFileName(oldest.Header.PredecessorNumber, oldest.Header.PredecessorEpoch);
        throw new LogDamage(Path.Combine(_dir, missing.ToString()), 0, oldest.FirstLsn,
            $"the log below {oldest.FirstLsn}, or a valid checkpoint from there on", "neither");
    }

    /// <summary>
    /// A live log replaces its checkpoints: those that were listed may all be gone before they are read, and newer ones there.
    /// </summary>
    private bool IsBelowACheckpoint(Lsn oldest)
    {
        IReadOnlyList<CheckpointFileName> listed, before = [];
        while (!(listed = Checkpoints.List(_fs, _dir)).SequenceEqual(before))
        {
            foreach (CheckpointFileName name in listed)
                if (CheckpointReader.TryReadHeader(_fs, _dir, name, _identity) is { } header && header.PageLsn >= oldest
                    && Checkpoints.IsValid(_fs, _dir, name, _identity)) return true;
            before = listed;
        }
        return false;
    }

    /// <summary>True: the page is in the buffer. False: the segment has ended, or the log.</summary>
    private bool TryRead()
    {
        PageFault? fault = Inspect();
        if (fault is null)
        {
            _pages.Accept(_buffer, _segment!);
            State(_buffer.DurableUpTo);
            _at = _buffer.Next;
            return true;
        }
        if (!_segment!.IsStillIn(_file!)) return End(new ReadVerdict.Gone(_at, Stated));
        if (_end == s_unbounded && HasGrown()) return false;
        if (Inspect() is not { } again) return TryRead(); // it was being written
        if (_end == s_unbounded) return EndTail(again);
        return Suffer(_segment.DamageAt(_at, again, $"{_end} is stated to be durable by the seal there"));
    }

    private PageFault? Inspect() =>
        _inspector!.Read(_file!, _at, _end, _pages.Next == _at ? _pages.Hash : null, ref _buffer) ?? _pages.Check(_buffer);

    /// <summary>
    /// The last segment of a live log may have been sealed since: then the page is found, or missed, in the light of that seal. What a
    /// take-over logged again behind a seal is given again.
    /// </summary>
    private bool HasGrown()
    {
        try
        {
            if (!_chain.Refresh(_fs, _dir, _identity)) return false;
        }
        catch (LogDamage damage)
        {
            return !Break(damage);
        }
        int i = _chain.Segments.IndexOf(_segment!);
        if (i < 0) return !End(new ReadVerdict.Gone(_at, Stated));
        if (i == _chain.Segments.Length - 1) return false;
        _end = _chain.Segments[i + 1].FirstLsn;
        State(_end);
        if (_at > _end) _at = _end;
        return true;
    }

    private bool EndTail(PageFault fault)
    {
        if (Stated > _at) return Suffer(_segment!.DamageAt(_at, fault, $"{Stated} is stated to be durable"));
        Lsn damage = _at;
        ulong? before = _pages.Next == damage ? _pages.Hash : null;
        _pages.DropIncomplete(_segment!);
        ReadVerdict verdict = new TailJudge(_fs, _dir, _identity, _inspector!).Judge(_file!, _pages, damage, fault, ref _buffer);
        if (verdict is ReadVerdict.Halt halt)
        {
            if (WasWrittenMeanwhile(damage, before)) return TryRead();
            return !HasGoneOnMeanwhile() && Suffer(halt.Damage);
        }
        _at = verdict.End;
        return End(verdict with { DurableUpTo = Stated });
    }

    /// <summary>
    /// A live log: what the search found behind the page may have been written, and the page before it, since the page was looked at.
    /// Reading goes on there, once for each place; a spanning record that was left for incomplete is read again from its beginning.
    /// </summary>
    private bool WasWrittenMeanwhile(Lsn damage, ulong? before)
    {
        if (_lookedAgainAt == damage || _inspector!.Read(_file!, damage, _end, before, ref _buffer) is not null) return false;
        _lookedAgainAt = damage;
        if (_pages.Next >= damage) return true;
        _at = _pages.Next;
        _pages.Begin(_at, _pages.Hash);
        return true;
    }

    /// <summary>
    /// A live log: it has rotated since, so that what states the missing page (a checkpoint, mostly) is about pages of a successor. Reading
    /// goes on in the light of that segment's seal.
    /// </summary>
    private bool HasGoneOnMeanwhile()
    {
        if (!HasGrown()) return false;
        if (_pages.Next >= _at) return true;
        _at = _pages.Next;
        _pages.Begin(_at, _pages.Hash);
        return true;
    }

    /// <summary>What the segments' headers say makes no chain: nothing can be read on.</summary>
    private bool Break(LogDamage damage)
    {
        _first ??= damage;
        _lost.Add(new LostStretch(_at, _at, damage));
        return End(new ReadVerdict.Halt(_at, damage, Stated));
    }

    /// <summary>Ends with a halt, or notes what is lost and finds the place where reading goes on.</summary>
    private bool Suffer(LogDamage damage)
    {
        _first ??= damage;
        bool isHeader = damage.Offset < SegmentHeader.Bytes; // what a header says of the segment before it: this one can be read
        Lsn from = _at;
        Lsn? goOn = !_goesOn ? null : isHeader ? from : FindNext();
        _lost.Add(new LostStretch(isHeader && _segment is null ? Lsn.Zero : from, goOn ?? from, damage));
        if (goOn is not { } next)
        {
            return End(new ReadVerdict.Halt(from, damage, Stated));
        }
        _at = next;
        _pages.Begin(next, null); // a page says itself what stood before it
        return false;
    }

    /// <summary>The next valid page of the segment, or its seal; null: nothing more can be read.</summary>
    private Lsn? FindNext()
    {
        var search = new BehindSearch(_inspector!, _file!);
        search.Run(_at, new PageFault("", ""), _end, true, ref _buffer);
        return search.FirstValid ?? (_end == s_unbounded ? null : _end);
    }

    private bool End(ReadVerdict verdict)
    {
        Verdict = _first is null ? verdict : new ReadVerdict.Halt(_lost[0].From, _first, Stated);
        return false;
    }

    private void State(Lsn lsn)
    {
        if (lsn > Stated) Stated = lsn;
    }
}
