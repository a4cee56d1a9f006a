using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Pages;

/// <summary>
/// Keeps the pages in memory in order. One page is open; sealed ones queue for the committer in Lsn order from the moment they are sealed;
/// durable ones stay readable until they are opened again. <c>_lock</c> guards all of it, and writers take that lock only when a page is
/// full. Invariant: the queue, the group and the open page follow one another without a gap, and <see cref="Sealed"/> is where the open
/// page begins.
/// </summary>
internal sealed class PagePool
{
    private const int PinsMax = 2;

    private readonly RankedLock _lock = new(LockRank.PagePool);
    private readonly PageCache _cache;
    private readonly SpanningPagePool _spanning;
    private readonly Queue<LogPage> _sealed = [];
    private readonly LogPage _none = new(LogFormat.BlockBytes); // stands for "no page" and stays sealed for ever
    private LogPage _open;
    private ulong _sealedTo;
    private int _committing; // pages in the commit group
    private int _pins;
    private Lsn _readTo; // delivery has read the pages below this and will hardly read them again

    /// <summary>Opens the first page at <paramref name="start"/>.</summary>
    /// <param name="pages">Pages for writers and the committer.</param>
    /// <param name="kept">Further pages, for durable pages that delivery has not read yet; beyond these it reads the segment.</param>
    /// <param name="spanningBytes">The limit of <see cref="SpanningPagePool"/>.</param>
    public PagePool(int pageBytes, int pages, int kept, long spanningBytes, Lsn start)
    {
        _cache = new PageCache(pageBytes, pages, kept);
        _spanning = new SpanningPagePool(pageBytes, spanningBytes);
        _sealedTo = start.Value;
        _open = _none;
        OpenNext();
    }

    /// <summary>The page that takes writers, or a page that refuses them all.</summary>
    public LogPage Open => Volatile.Read(ref _open);

    /// <summary>Every page below this is sealed.</summary>
    public Lsn Sealed => new(Volatile.Read(ref _sealedTo));

    /// <summary>The position behind the last byte reserved; equal to <see cref="Sealed"/> while the open page is empty.</summary>
    public Lsn Tail
    {
        get
        {
            LogPage page = Open;
            Lsn lsn = page.Lsn;
            long word = page.State.Word;
            if (!PageState.IsSealed(word) && page == Open && page.Lsn == lsn) return TailOf(lsn, word);
            using (_lock.Enter()) return _open == _none ? Sealed : TailOf(_open.Lsn, _open.State.Word); // the next page is being opened
        }
    }

    private static Lsn TailOf(Lsn open, long word)
    {
        int end = PageState.EndOf(word);
        return end == PageHeader.Bytes ? open : open + end;
    }

    /// <summary>
    /// Seals the open page and opens another, after a writer found no room for <paramref name="bytes"/>. Returns false when no page is
    /// free.
    /// </summary>
    /// <param name="filled">The page that was sealed, if the caller is its only writer now and must leave it; else null.</param>
    public bool TryOpenNext(int bytes, out LogPage? filled)
    {
        filled = null;
        using (_lock.Enter())
        {
            if (_open == _none) OpenNext();
            else if (PageState.EndOf(_open.State.Word) + bytes > _open.Capacity) filled = SealFilled(); // else another writer was faster
            return _open != _none;
        }
    }

    /// <summary>Hands over sealed pages without writers, in order; the open page is sealed if none waits.</summary>
    public CommitReadiness Take(List<LogPage> group)
    {
        using (_lock.Enter())
        {
            if (_committing != 0) throw new InvalidOperationException("pages are handed to a second committer");
            if (_sealed.Count == 0 && HasRecords(_open)) SealOpen();
            if (_sealed.Count == 0) return CommitReadiness.Nothing;
            while (_sealed.TryPeek(out LogPage? head) && PageState.WritersOf(head.State.Word) == 0)
            {
                Require(head, PagePhase.Sealed);
                head.Phase = PagePhase.Committing;
                group.Add(_sealed.Dequeue());
            }
            _committing = group.Count;
            return _committing == 0 ? CommitReadiness.WritersInside : CommitReadiness.Ready;
        }
    }

    /// <summary>True when <see cref="Take"/> would hand something over.</summary>
    public bool HasReady
    {
        get
        {
            using (_lock.Enter())
                return _sealed.TryPeek(out LogPage? head) ? PageState.WritersOf(head.State.Word) == 0 : HasRecords(_open);
        }
    }

    /// <summary>Makes the group's pages Durable: they are on disk and fence-checked.</summary>
    public void Complete(List<LogPage> group)
    {
        using (_lock.Enter())
        {
            foreach (LogPage page in group)
            {
                Require(page, PagePhase.Committing);
                page.Phase = PagePhase.Durable;
                if (!page.IsPooled) _spanning.Keep(page);
            }
            _committing = 0;
        }
    }

    /// <summary>True when nothing is open, sealed or being committed.</summary>
    public bool IsQuiet
    {
        get
        {
            using (_lock.Enter()) return _sealed.Count == 0 && _committing == 0 && !HasRecords(_open);
        }
    }

    /// <summary>Queues an empty page with the durable mark, unless something is open, sealed or being committed.</summary>
    public bool TryAppendMark()
    {
        using (_lock.Enter())
        {
            if (_sealed.Count != 0 || _committing != 0 || _open == _none || !_open.State.TrySealEmpty()) return false;
            _open.Flags = PageFlags.DurableMark;
            Enqueue(_open, PageHeader.Bytes);
            OpenNext();
            return true;
        }
    }

    /// <summary>
    /// Queues a page that takes one record of so many bytes and nothing else, and that begins at <paramref name="at"/>. The caller is the
    /// only writer inside, and leaves it. Null: something is open, sealed or being committed, or the log has gone on.
    /// </summary>
    /// <param name="appVersion">The version that the page states; 0 when it states none.</param>
    public LogPage? TryTakeAlone(Lsn at, int bytes, uint appVersion)
    {
        using (_lock.Enter())
        {
            LogPage page = _open;
            if (_sealed.Count != 0 || _committing != 0 || page == _none || Sealed != at || !page.State.TrySealEmpty()) return null;
            if (appVersion > 0) (page.Flags, page.AppVersion) = (PageFlags.StatesVersion, appVersion);
            page.State.CloseInside(PageHeader.Bytes + bytes);
            Enqueue(page, PageHeader.Bytes + bytes);
            OpenNext();
            return page;
        }
    }

    /// <summary>
    /// Returns true when a spanning record of so many bytes may be made; <see cref="AppendSpanning"/> follows. Returns false when too much
    /// of other spanning records is on its way.
    /// </summary>
    public bool TryAdmitSpanning(long bytes)
    {
        using (_lock.Enter()) return _spanning.TryAdmit(bytes);
    }

    /// <inheritdoc cref="SpanningPagePool.TakeSpare"/>
    public LogPage? TakeSpare()
    {
        using (_lock.Enter()) return _spanning.TakeSpare();
    }

    /// <summary>
    /// Queues the pages of one spanning record behind everything reserved so far. Returns the Lsn of the first page. The caller is a writer
    /// inside the first page and leaves it; until then no committer takes any of the pages.
    /// </summary>
    /// <param name="end">The record's end.</param>
    public Lsn AppendSpanning(List<LogPage> pages, out Lsn end)
    {
        using (_lock.Enter())
        {
            LogPage open = _open;
            if (open != _none)
            {
                if (open.State.TrySealEmpty()) open.Phase = PagePhase.Free;
                else Enqueue(open, PageState.EndOf(open.State.Seal()));
            }
            Lsn first = end = Sealed;
            foreach (LogPage page in pages) end += page == pages[^1] ? PageState.EndOf(page.State.Word) : page.Capacity;
            pages[0].State.CloseInside(PageState.EndOf(pages[0].State.Word));
            foreach (LogPage page in pages)
            {
                page.Lsn = Sealed;
                Enqueue(page, PageState.EndOf(page.State.Word));
            }
            OpenNext();
            return first;
        }
    }

    /// <summary>Holds the durable page at <paramref name="lsn"/>; false when it is not in memory, or enough pages are held.</summary>
    public bool TryPin(Lsn lsn, out PinnedPage pinned)
    {
        pinned = default;
        using (_lock.Enter())
        {
            if ((_cache.FindDurable(lsn) ?? _spanning.Find(lsn)) is not { IsPinned: false } page || _pins == PinsMax) return false;
            page.IsPinned = true;
            _pins++;
            pinned = new PinnedPage(this, page);
            return true;
        }
    }

    /// <summary>Gives a held page back: delivery has read it.</summary>
    public void Unpin(LogPage page)
    {
        using (_lock.Enter())
        {
            if (!page.IsPinned) throw new InvalidOperationException($"page {page.Lsn} is not pinned");
            page.IsPinned = false;
            _pins--;
            if (page.Header.Next > _readTo) _readTo = page.Header.Next;
            _spanning.DropBelow(_readTo);
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

    /// <summary>Seals the open page for a writer, who stays inside unless others do.</summary>
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
        if (end > page.Capacity / 2) page.AdviseLargePages();
        page.Phase = PagePhase.Sealed;
        _sealed.Enqueue(page);
        Volatile.Write(ref _sealedTo, _sealedTo + (ulong)AlignedBlock.RoundUp(end));
    }

    /// <summary>Opens the next page; opens none when too many pages are busy.</summary>
    private void OpenNext()
    {
        if (_cache.TakeNext(_readTo, _pins) is not { } next)
        {
            Volatile.Write(ref _open, _none);
            return;
        }
        next.Lsn = Sealed;
        next.Flags = PageFlags.None;
        next.Remaining = 0;
        next.AppVersion = 0;
        next.PayloadCrc = null;
        next.Phase = PagePhase.Open;
        next.State.Open();
        Volatile.Write(ref _open, next);
    }

    private static void Require(LogPage page, PagePhase phase)
    {
        if (page.Phase != phase) throw new InvalidOperationException($"page {page.Lsn} is {page.Phase} where {phase} is due");
    }
}
