using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Pages;

/// <summary>
/// Owns the pages of spanning records, which are outside of the pool. It counts how much of them is on its way to disk, keeps durable ones
/// that delivery has not read yet, and keeps a few spares for the next record. Invariant: a record is admitted only while less than the
/// limit is on its way, so at most the limit and one record are; the durable pages take at most the limit, the newest are kept, and
/// delivery reads older ones from the segment; a spare is pinned by nobody. The pool's lock guards it.
/// </summary>
/// <param name="pageBytes">Bytes of a whole page.</param>
/// <param name="bytesMax">The limit, at least 1.</param>
internal sealed class SpanningPagePool(int pageBytes, long bytesMax)
{
    /// <summary>The kernel has to clear new memory page by page; these spares save that to a stream of large messages.</summary>
    private const int SparesMax = 8;

    private readonly List<LogPage> _durable = []; // in the order of the log
    private readonly Stack<LogPage> _spares = []; // whole pages that nobody reads
    private long _durableBytes;                   // bytes of memory of _durable
    private long _underWay;                       // bytes of records that were admitted and are not durable

    /// <summary>Counts a record of so many bytes as being on its way, unless the limit is reached.</summary>
    public bool TryAdmit(long bytes)
    {
        if (_underWay >= bytesMax) return false;
        _underWay += bytes;
        return true;
    }

    /// <summary>Takes a whole page that was used before, with whatever stood in it; null when there is none.</summary>
    public LogPage? TakeSpare() => _spares.TryPop(out LogPage? spare) ? spare : null;

    /// <summary>Keeps a page that has become durable, and drops the oldest ones beyond the limit.</summary>
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

    /// <summary>Returns the durable page at <paramref name="lsn"/>; null when it is not kept any more.</summary>
    public LogPage? Find(Lsn lsn)
    {
        foreach (LogPage page in _durable)
            if (page.Lsn == lsn) return page;
        return null;
    }

    /// <summary>Drops pages that end at or below <paramref name="read"/>: delivery has read them, or has passed them.</summary>
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

/// <summary>Splits a record that is larger than a page into pages of its own (log-format L4.3).</summary>
internal static class SpanningRecord
{
    /// <summary>Makes the record's pages, filled and closed, without Lsns yet.</summary>
    /// <param name="pageBytes">Bytes of a whole page; the last one is as large as it must be.</param>
    /// <param name="spare">Returns a whole page that was used before, or null.</param>
    public static List<LogPage> Split(
        int pageBytes, Func<LogPage?> spare, RecordKind kind, ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest)
    {
        int room = pageBytes - PageHeader.Bytes;
        uint body = checked((uint)(head.Length + (long)rest.Length));
        long left = RecordHeader.Bytes + (long)body;
        Span<byte> header = new byte[RecordHeader.Bytes];
        new RecordHeader(body, kind).Write(header);
        ReadOnlySpan<byte> first = header;
        var pages = new List<LogPage>((int)(left / room) + 1);
        while (left > 0)
        {
            int part = (int)Math.Min(room, left);
            left -= part;
            LogPage page = (part == room ? spare() : null) ?? new LogPage(AlignedBlock.RoundUp(PageHeader.Bytes + part));
            page.Flags = pages.Count == 0 ? PageFlags.BeginsSpanning : PageFlags.ContinuesSpanning;
            page.Remaining = (uint)left;
            Span<byte> to = page.Bytes.Slice(PageHeader.Bytes, part);
            Copy(ref first, ref to);
            Copy(ref head, ref to);
            Copy(ref rest, ref to);
            page.PayloadCrc = Crc32C.Of(page.Bytes.Slice(PageHeader.Bytes, part));
            page.State.Close(PageHeader.Bytes + part);
            pages.Add(page);
        }
        return pages;
    }

    private static void Copy(ref ReadOnlySpan<byte> from, ref Span<byte> to)
    {
        int count = Math.Min(from.Length, to.Length);
        from[..count].CopyTo(to);
        from = from[count..];
        to = to[count..];
    }
}
