using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Cutting;

/// <summary>
/// Gives the records of pages to a rewriting, those that span pages as a whole, and writes the pages into the segment of a cut. It uses the
/// memory of one record at most. One thread.
/// </summary>
internal sealed class RewrittenPages(ICutRewriting rewriting)
{
    /// <summary>The pages of a spanning record that has not ended, in their order.</summary>
    private readonly List<(PageHeader Header, byte[] Whole)> _spanning = [];

    /// <summary>
    /// Takes a page as it was read. The pages of a spanning record are written when its last is there: one segment has all of them.
    /// </summary>
    public void Write(PageBuffer page, CutSegment to)
    {
        byte[] whole = page.RoomMemory.Span[..page.Header.Footprint].ToArray();
        if (page.Flags is PageFlags.BeginsSpanning or PageFlags.ContinuesSpanning)
        {
            _spanning.Add((page.Header, whole));
            if (page.Remaining == 0) WriteSpanning(to);
            return;
        }
        Rewrite(whole.AsSpan(PageHeader.Bytes, page.Length - PageHeader.Bytes));
        to.WriteAnew(page.Header, whole);
    }

    private void WriteSpanning(CutSegment to)
    {
        byte[] record = new byte[_spanning.Sum(static each => (long)each.Header.Length - PageHeader.Bytes)];
        int at = 0;
        foreach ((PageHeader header, byte[] whole) in _spanning)
        {
            Span<byte> part = Records(header, whole);
            part.CopyTo(record.AsSpan(at));
            at += part.Length;
        }
        Rewrite(record);
        at = 0;
        foreach ((PageHeader header, byte[] whole) in _spanning)
        {
            Span<byte> part = Records(header, whole);
            record.AsSpan(at, part.Length).CopyTo(part);
            at += part.Length;
            to.WriteAnew(header, whole);
        }
        _spanning.Clear();
    }

    private void Rewrite(Span<byte> records)
    {
        while (!records.IsEmpty)
        {
            RecordHeader header = RecordHeader.Read(records);
            int size = RecordHeader.Bytes + (int)header.Length;
            rewriting.Rewrite(header.Kind, records[RecordHeader.Bytes..size]);
            records = records[size..];
        }
    }

    private static Span<byte> Records(PageHeader header, byte[] whole) => whole.AsSpan(PageHeader.Bytes, header.Length - PageHeader.Bytes);
}
