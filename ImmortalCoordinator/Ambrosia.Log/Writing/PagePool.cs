using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// The pages and their order: one is open, sealed ones queue for the committer in Lsn order from the moment they are sealed, durable ones
/// stay readable until they are opened again. All under <c>_turning</c>, which writers take only when a page is full. Memory is taken when
/// it is needed: a page that delivery has read is used again first, the last one read before others, since it is still in the processor's
/// cache. Invariant: the queue, the group and the open page follow one another without a gap; <see cref="Sealed"/> is
/// where the open page begins.
/// </summary>
internal sealed class PagePool
{
    private const int PinsMax = 2;

    /// <summary>
    /// So many pages are kept for delivery however little is in them; more only where they are filled, so that memory follows what waits.
    /// </summary>
    private const int ThinPagesMax = 8;

    private readonly Lock _turning = new();
    private readonly int _pageBytes;
    private readonly int _pagesMin, _pagesMax;
    private readonly List<LogPage> _pages = [];
    private readonly Queue<LogPage> _sealed = [];
    private readonly SpannedPages _spanned;
    private readonly LogPage _none = new(LogFormat.BlockBytes); // stands for "no page": sealed for ever
    private PageArea? _area; // whose memory the next page takes, while it has room
    private LogPage _open;
    private ulong _sealedTo;
    private int _committing;
    private int _pins;

    /// <summary>Pages below this were read by delivery and will hardly be read again.</summary>
    private Lsn _readTo;

    /// <param name="pages">For writers and the committer.</param>
    /// <param name="kept">More of them, for durable pages that delivery has not read yet; beyond these it reads the segment.</param>
    /// <param name="spanningBytes">See <see cref="SpannedPages"/>.</param>
    public PagePool(int pageBytes, int pages, int kept, long spanningBytes, Lsn start)
    {
        _spanned = new SpannedPages(pageBytes, spanningBytes);
        _pageBytes = pageBytes;
        _pagesMin = pages;
        _pagesMax = pages + kept;
        _sealedTo = start.Value;
        _open = _none;
        OpenNext();
    }

    /// <summary>The page that takes writers, or one that refuses them all.</summary>
    public LogPage Open => Volatile.Read(ref _open);

    /// <summary>Every page below is sealed.</summary>
    public Lsn Sealed => new(Volatile.Read(ref _sealedTo));

    /// <summary>Behind the last byte reserved; <see cref="Sealed"/> while the open page is empty.</summary>
    public Lsn Tail
    {
        get
        {
            while (true)
            {
                LogPage page = Open;
                Lsn lsn = page.Lsn;
                long word = page.State.Word;
                if (page == _none) return Sealed;
                if (PageState.IsSealed(word) || page != Open || page.Lsn != lsn) continue;
                int end = PageState.EndOf(word);
                return end == PageHeader.Bytes ? lsn : lsn + end;
            }
        }
    }

    /// <summary>
    /// After a writer found no room for <paramref name="bytes"/>: seals the open page and opens another. False: none is free.
    /// </summary>
    /// <param name="filled">The page that was sealed, if the caller is its only writer now: it must leave the page.
    /// Null: there is none.</param>
    public bool TryTurn(int bytes, out LogPage? filled)
    {
        filled = null;
        lock (_turning)
        {
            if (_open == _none) OpenNext();
            else if (PageState.EndOf(_open.State.Word) + bytes > _open.Capacity) filled = SealFilled(); // else somebody turned it meanwhile
            return _open != _none;
        }
    }

    /// <summary>Hands over sealed pages without writers, in order; the open page is sealed if none waits.</summary>
    public CommitAnswer Take(List<LogPage> group)
    {
        lock (_turning)
        {
            if (_committing != 0) throw new InvalidOperationException("pages are handed to a second committer");
            if (_sealed.Count == 0 && HasRecords(_open)) SealOpen();
            if (_sealed.Count == 0) return CommitAnswer.Nothing;
            while (_sealed.TryPeek(out LogPage? head) && PageState.WritersOf(head.State.Word) == 0)
            {
                Require(head, PagePhase.Sealed);
                head.Phase = PagePhase.Committing;
                group.Add(_sealed.Dequeue());
            }
            _committing = group.Count;
            return _committing == 0 ? CommitAnswer.WritersInside : CommitAnswer.Ready;
        }
    }

    /// <summary>True when <see cref="Take"/> would hand something over.</summary>
    public bool HasReady
    {
        get
        {
            lock (_turning)
                return _sealed.TryPeek(out LogPage? head) ? PageState.WritersOf(head.State.Word) == 0 : HasRecords(_open);
        }
    }

    /// <summary>The group's pages are on disk and fence-checked.</summary>
    public void Complete(List<LogPage> group)
    {
        lock (_turning)
        {
            foreach (LogPage page in group)
            {
                Require(page, PagePhase.Committing);
                page.Phase = PagePhase.Durable;
                if (!page.IsPooled) _spanned.Keep(page);
            }
            _committing = 0;
        }
    }

    /// <summary>True when nothing is open, sealed or being committed.</summary>
    public bool IsQuiet
    {
        get
        {
            lock (_turning) return _sealed.Count == 0 && _committing == 0 && !HasRecords(_open);
        }
    }

    /// <summary>Queues an empty page with the durable mark, if nothing is open, sealed or being committed.</summary>
    public bool TryAppendMark()
    {
        lock (_turning)
        {
            if (_sealed.Count != 0 || _committing != 0 || _open == _none || !_open.State.TrySealEmpty()) return false;
            _open.Flags = PageFlags.DurableMark;
            Enqueue(_open, PageHeader.Bytes);
            OpenNext();
            return true;
        }
    }

    /// <summary>
    /// True: a spanning record of so many bytes may be made, and <see cref="AppendSpanning"/> follows. False: too much
    /// of others is on its way.
    /// </summary>
    public bool TryAdmitSpanning(long bytes)
    {
        lock (_turning) return _spanned.TryAdmit(bytes);
    }

    /// <inheritdoc cref="SpannedPages.TakeSpare"/>
    public LogPage? TakeSpare()
    {
        lock (_turning) return _spanned.TakeSpare();
    }

    /// <summary>Queues the pages of one spanning record behind everything reserved so far. Returns the Lsn of the first.</summary>
    /// <param name="reserved">Is told <paramref name="end"/>, the record's, before a committer can see the pages; it must
    /// not come back here.</param>
    public Lsn AppendSpanning(List<LogPage> pages, Action<Lsn>? reserved, out Lsn end)
    {
        lock (_turning)
        {
            LogPage open = _open;
            if (open != _none)
            {
                if (open.State.TrySealEmpty()) open.Phase = PagePhase.Free;
                else Enqueue(open, PageState.EndOf(open.State.Seal()));
            }
            Lsn first = end = Sealed;
            foreach (LogPage page in pages) end += page == pages[^1] ? PageState.EndOf(page.State.Word) : page.Capacity;
            reserved?.Invoke(end);
            foreach (LogPage page in pages)
            {
                page.Lsn = Sealed;
                Enqueue(page, PageState.EndOf(page.State.Word));
            }
            OpenNext();
            return first;
        }
    }

    public bool TryPin(Lsn lsn, out PinnedPage pinned)
    {
        pinned = default;
        lock (_turning)
        {
            if (DurableAt(lsn) is not { IsPinned: false } page || _pins == PinsMax) return false;
            page.IsPinned = true;
            _pins++;
            pinned = new PinnedPage(this, page);
            return true;
        }
    }

    private LogPage? DurableAt(Lsn lsn)
    {
        foreach (LogPage page in _pages)
            if (page.Phase == PagePhase.Durable && page.Lsn == lsn) return page;
        return _spanned.Find(lsn);
    }

    public void Unpin(LogPage page)
    {
        lock (_turning)
        {
            if (!page.IsPinned) throw new InvalidOperationException($"page {page.Lsn} is not pinned");
            page.IsPinned = false;
            _pins--;
            if (page.Header.Next > _readTo) _readTo = page.Header.Next;
            _spanned.DropBelow(_readTo);
        }
    }

    private static bool HasRecords(LogPage open) =>
        !PageState.IsSealed(open.State.Word) && PageState.EndOf(open.State.Word) > PageHeader.Bytes;

    private void SealOpen()
    {
        LogPage page = _open;
        Require(page, PagePhase.Open);
        Enqueue(page, PageState.EndOf(page.State.Seal()));
        OpenNext();
    }

    /// <summary>The same by a writer, who stays inside unless others do.</summary>
    private LogPage? SealFilled()
    {
        LogPage page = _open;
        Require(page, PagePhase.Open);
        long word = page.State.SealInside();
        bool isAlone = PageState.WritersOf(word) == 1;
        if (!isAlone) page.State.Leave();
        Enqueue(page, PageState.EndOf(word));
        OpenNext();
        return isAlone ? page : null;
    }

    private void Enqueue(LogPage page, int end)
    {
        if (page.Lsn != Sealed) throw new InvalidOperationException($"page {page.Lsn} is sealed where {Sealed} is next");
        if (end > page.Capacity / 2) page.WasFilled();
        page.Phase = PagePhase.Sealed;
        _sealed.Enqueue(page);
        Volatile.Write(ref _sealedTo, _sealedTo + (ulong)LogFormat.RoundUp(end));
    }

    /// <summary>Opens a free page, one that was read, a new one, or the oldest durable one that nobody reads just now; else none.</summary>
    private void OpenNext()
    {
        LogPage? free = null, read = null, oldest = null;
        int busy = 0, kept = 0;
        long keptBytes = 0;
        foreach (LogPage page in _pages)
        {
            if (page.Phase == PagePhase.Free) free = page;
            else if (page.Phase != PagePhase.Durable) busy++;
            else
            {
                kept++;
                keptBytes += page.Header.Next - page.Lsn;
                if (page.IsPinned) continue;
                if (page.Lsn < _readTo && (read is null || page.Lsn > read.Lsn)) read = page;
                if (oldest is null || page.Lsn < oldest.Lsn) oldest = page;
            }
        }
        bool isThin = keptBytes < kept * (long)_pageBytes / 2;
        LogPage? next = busy < _pagesMin ? free ?? read ?? AddPage(isThin) ?? oldest : null;
        if (next is null)
        {
            Volatile.Write(ref _open, _none);
            return;
        }
        next.Lsn = Sealed;
        next.Flags = PageFlags.None;
        next.Remaining = 0;
        next.PayloadCrc = null;
        next.Phase = PagePhase.Open;
        next.State.Open();
        Volatile.Write(ref _open, next);
    }

    /// <param name="isThin">What is kept fills less than half of its pages.</param>
    private LogPage? AddPage(bool isThin)
    {
        int pagesMax = isThin ? Math.Min(_pagesMax, _pagesMin + ThinPagesMax) : _pagesMax;
        if (_pages.Count >= Math.Max(pagesMax, _pagesMin + _pins)) return null;
        if (_area is not { HasRoom: true }) _area = new PageArea(_pageBytes);
        var page = new LogPage(_area);
        _pages.Add(page);
        return page;
    }

    private static void Require(LogPage page, PagePhase phase)
    {
        if (page.Phase != phase) throw new InvalidOperationException($"page {page.Lsn} is {page.Phase} where {phase} is due");
    }
}
