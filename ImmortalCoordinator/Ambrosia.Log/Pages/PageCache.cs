using Ambrosia.Protocol;

namespace Ambrosia.Log.Pages;

/// <summary>
/// Owns the pages of a <see cref="PagePool"/> and chooses which of them is opened next. Memory is taken when it is needed. A page that
/// delivery has read is used again first, the last one read before others, since it is still in the processor's cache. The pool's lock
/// guards it.
/// </summary>
/// <param name="pageBytes">Bytes of a page.</param>
/// <param name="pagesMin">Pages for writers and the committer.</param>
/// <param name="kept">Further pages, for durable pages that delivery has not read yet.</param>
internal sealed class PageCache(int pageBytes, int pagesMin, int kept)
{
    /// <summary>
    /// So many pages are kept for delivery however little is in them. More are kept only where they are filled, so that memory follows the
    /// bytes that wait.
    /// </summary>
    private const int ThinPagesMax = 8;

    private readonly int _pagesMax = pagesMin + kept;
    private readonly List<LogPage> _pages = [];
    private PageArena? _arena; // the next page takes its memory here while there is room

    /// <summary>
    /// Returns a free page, a page that was read, a new one, or the oldest durable one that is not pinned; null when too many pages are
    /// busy.
    /// </summary>
    /// <param name="readTo">Delivery has read the pages below this.</param>
    /// <param name="pins">So many pages are pinned now.</param>
    public LogPage? TakeNext(Lsn readTo, int pins)
    {
        LogPage? free = null, read = null, oldest = null;
        int busy = 0, durable = 0;
        long durableBytes = 0;
        foreach (LogPage page in _pages)
        {
            if (page.Phase == PagePhase.Free) free = page;
            else if (page.Phase != PagePhase.Durable) busy++;
            else
            {
                durable++;
                durableBytes += page.Header.Next - page.Lsn;
                if (page.IsPinned) continue;
                if (page.Lsn < readTo && (read is null || page.Lsn > read.Lsn)) read = page;
                if (oldest is null || page.Lsn < oldest.Lsn) oldest = page;
            }
        }
        bool isThin = durableBytes < durable * (long)pageBytes / 2;
        return busy < pagesMin ? free ?? read ?? AddPage(isThin, pins) ?? oldest : null;
    }

    /// <summary>Returns the durable page at <paramref name="lsn"/>; null when its memory was used again.</summary>
    public LogPage? FindDurable(Lsn lsn)
    {
        foreach (LogPage page in _pages)
            if (page.Phase == PagePhase.Durable && page.Lsn == lsn) return page;
        return null;
    }

    /// <summary>Makes a page, unless there are enough.</summary>
    /// <param name="isThin">True when what is kept fills less than half of its pages.</param>
    private LogPage? AddPage(bool isThin, int pins)
    {
        int pagesMax = isThin ? Math.Min(_pagesMax, pagesMin + ThinPagesMax) : _pagesMax;
        if (_pages.Count >= Math.Max(pagesMax, pagesMin + pins)) return null;
        if (_arena is not { HasRoom: true }) _arena = new PageArena(pageBytes);
        var page = new LogPage(_arena);
        _pages.Add(page);
        return page;
    }
}
