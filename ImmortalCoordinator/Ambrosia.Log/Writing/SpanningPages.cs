using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>Cuts a record that is larger than a page into pages of its own (log-format L4.3).</summary>
internal static class SpanningPages
{
    /// <summary>Pages outside of the pool, filled and closed, without Lsns yet.</summary>
    /// <param name="pageBytes">Of a whole page; the last one is as large as it must be.</param>
    /// <param name="spare">A whole page that was used before, or null.</param>
    public static List<LogPage> Make(int pageBytes, Func<LogPage?> spare, RecordKind kind, ReadOnlySpan<byte> head, ReadOnlySpan<byte> rest)
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
            LogPage page = (part == room ? spare() : null) ?? new LogPage(LogFormat.RoundUp(PageHeader.Bytes + part));
            page.Flags = pages.Count == 0 ? PageFlags.BeginsSpanning : PageFlags.ContinuesSpanning;
            page.Remaining = (uint)left;
            Span<byte> to = page.Bytes.Slice(PageHeader.Bytes, part);
            Move(ref first, ref to);
            Move(ref head, ref to);
            Move(ref rest, ref to);
            page.PayloadCrc = Crc32C.Of(page.Bytes.Slice(PageHeader.Bytes, part));
            page.State.Close(PageHeader.Bytes + part);
            pages.Add(page);
        }
        return pages;
    }

    private static void Move(ref ReadOnlySpan<byte> from, ref Span<byte> to)
    {
        int count = Math.Min(from.Length, to.Length);
        from[..count].CopyTo(to);
        from = from[count..];
        to = to[count..];
    }
}
