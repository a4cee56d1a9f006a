using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Pages outside of the pool, for one spanning record at a time: how much of them is on its way to disk, which durable ones delivery has
/// not read yet, and a few that wait for the next record. Invariant: a record is admitted only while less than the limit is on its way, so
/// that is the limit and one record at most; durable pages take the limit at most, the newest, and what is older is read from the segment;
/// a page that waits is pinned by nobody. Guarded by the pool.
/// </summary>
/// <param name="pageBytes">Of a whole page.</param>
/// <param name="bytesMax">The limit, at least 1.</param>
internal sealed class SpannedPages(int pageBytes, long bytesMax)
{
    /// <summary>New memory has to be cleared by the kernel, a page at a time; these save that to a stream of large messages.</summary>
    private const int SparesMax = 8;

    private readonly List<LogPage> _durable = []; // in the order of the log
    private readonly Stack<LogPage> _spares = []; // whole ones, that nobody reads
    private long _durableBytes;                   // of their memory
    private long _underWay;                       // of records admitted and not durable

    public bool TryAdmit(long bytes)
    {
        if (_underWay >= bytesMax) return false;
        _underWay += bytes;
        return true;
    }

    /// <summary>A whole page that was used before, with whatever stood in it; null: there is none.</summary>
    public LogPage? TakeSpare() => _spares.TryPop(out LogPage? spare) ? spare : null;

    /// <summary>The page has become durable.</summary>
    public void Keep(LogPage page)
    {
        _underWay -= page.Header.Length - PageHeader.Bytes;
        if (_underWay < 0) throw new InvalidOperationException($"page {page.Lsn} is of a spanning record that was not admitted");
        _durable.Add(page);
        _durableBytes += page.Capacity;
        for (int i = 0; _durableBytes > bytesMax && i < _durable.Count;)
        {
            if (_durable[i].IsPinned) i++;
            else Drop(i);
        }
    }

    /// <summary>Null: it is not here any more.</summary>
    public LogPage? Find(Lsn lsn)
    {
        foreach (LogPage page in _durable)
            if (page.Lsn == lsn) return page;
        return null;
    }

    /// <summary>Pages that end at or below <paramref name="read"/> were read, or passed over.</summary>
    public void DropBelow(Lsn read)
    {
        while (_durable.Count > 0 && _durable[0].Header.Next <= read && !_durable[0].IsPinned) Drop(0);
    }

    private void Drop(int index)
    {
        LogPage page = _durable[index];
        _durableBytes -= page.Capacity;
        _durable.RemoveAt(index);
        if (page.Capacity == pageBytes && _spares.Count < SparesMax) _spares.Push(page);
    }
}
