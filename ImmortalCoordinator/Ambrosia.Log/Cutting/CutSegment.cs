using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Cutting;

/// <summary>
/// Writes one segment of a cut: pages as they were read, behind a header. The header comes last, since it states the length of the file.
/// One thread.
/// </summary>
internal sealed class CutSegment(LogLocation to, SegmentHeader header) : IDisposable
{
    private readonly IFile _file = to.Files.Create(to.PathOf(new SegmentFileName(header.Number, header.Epoch).ToString()));
    private PageHeader _last;
    private ulong _lastHash = header.PredecessorHash;

    public SegmentHeader Header => header;

    /// <summary>The position behind the last page.</summary>
    public Lsn Position { get; private set; } = header.FirstLsn;

    /// <summary>The hash of the last page; before the first that which the header states.</summary>
    public ulong LastHash => _lastHash;

    /// <summary>Writes the next page with other content: its checksum and the hash of the page before it are made anew.</summary>
    public void WriteAnew(PageHeader page, Span<byte> whole)
    {
        page = page with { PreviousHash = _lastHash, PayloadCrc = Crc32C.Of(whole[PageHeader.Bytes..page.Length]) };
        page.Write(whole, PageHeader.SeedOf(header.Uuid, header.Shard));
        Write(page, whole);
    }

    /// <summary>Writes the next page.</summary>
    public void Write(PageBuffer page) => Write(page.Header, page.RoomMemory.Span[..page.Header.Footprint]);

    /// <summary>States that all below is durable. A mark among the pages does not: it speaks of what is before it alone.</summary>
    public void Mark()
    {
        Span<byte> bytes = stackalloc byte[LogFormat.BlockBytes];
        bytes.Clear();
        var mark = new PageHeader(
            PageHeader.Bytes, PageFlags.DurableMark, header.Epoch, Position, Position, Math.Max(_last.TimeMicros, header.CreatedMicros),
            _lastHash, Crc32C.Of([]), 0);
        mark.Write(bytes, PageHeader.SeedOf(header.Uuid, header.Shard));
        Write(mark, bytes);
    }

    /// <summary>Writes the header, with which the file is a segment.</summary>
    public void End()
    {
        long length = header.OffsetOf(Position) + LogFormat.BlockBytes; // takes a mark, as the end of any segment does
        _file.SetLength(length);
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        (header with { IsRecycled = false, FileBytes = length }).Write(bytes);
        _file.Write(bytes, 0);
        _file.Flush();
    }

    private void Write(in PageHeader page, ReadOnlySpan<byte> whole)
    {
        if (page.Lsn != Position) throw new InvalidOperationException($"page {page.Lsn} of a cut that stands at {Position}");
        _file.Write(whole, header.OffsetOf(page.Lsn));
        _last = page;
        _lastHash = PageHeader.HashOf(whole);
        Position = page.Next;
    }

    public void Dispose() => _file.Dispose();
}
