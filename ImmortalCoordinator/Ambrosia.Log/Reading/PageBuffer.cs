using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Owns memory for one page read from the log. It belongs to one thread. Its content is that of the last <see cref="LogReader.Read"/>,
/// which may replace the buffer by a larger one. The owner may overwrite the 64 header bytes in front.
/// </summary>
public sealed class PageBuffer
{
    private const int UsualBytesMax = 1 << 20;

    private readonly AlignedBlock _block;

    /// <summary>Makes an empty buffer.</summary>
    /// <param name="bytes">There is room for a page of this size, rounded up to 4,096.</param>
    public PageBuffer(int bytes = 1 << 20) =>
        _block = new AlignedBlock(AlignedBlock.RoundUp(Math.Max(bytes, LogFormat.BlockBytes)), zeroed: false);

    public int Capacity => _block.Length;

    /// <summary>The whole page: header and records without padding.</summary>
    public Memory<byte> Memory => _block.Memory[..Header.Length];

    /// <summary>The whole page: header and records without padding.</summary>
    public Span<byte> Bytes => _block.Span[..Header.Length];

    /// <summary>The records of the page, all whole, or one part of a spanning record.</summary>
    public ReadOnlySpan<byte> Records => Bytes[PageHeader.Bytes..];

    /// <summary>The header as it was read, whatever has become of its bytes since.</summary>
    public PageHeader Header { get; internal set; }

    /// <summary>The length of header and records in bytes.</summary>
    public int Length => Header.Length;
    public Lsn Lsn => Header.Lsn;

    /// <summary>The position of the first record.</summary>
    public Lsn RecordsLsn => Header.Lsn + PageHeader.Bytes;

    /// <summary>The position of the page behind this one.</summary>
    public Lsn Next => Header.Next;
    public long TimeMicros => Header.TimeMicros;
    public PageFlags Flags => Header.Flags;
    public uint Remaining => Header.Remaining;
    public ulong PreviousHash => Header.PreviousHash;
    public Lsn DurableUpTo => Header.DurableUpTo;

    /// <summary>The hash of this page (log-format L4.5), which the page behind it states as PreviousHash.</summary>
    public ulong Hash { get; internal set; }

    internal Span<byte> Room => _block.Span;

    internal ReadOnlyMemory<byte> RoomMemory => _block.Memory;

    /// <summary>
    /// Makes room for a page of <paramref name="bytes"/>, and keeps the content of the first <paramref name="keep"/> bytes.
    /// </summary>
    internal static void Grow(ref PageBuffer buffer, int bytes, int keep)
    {
        if (bytes <= buffer.Capacity) return;
        var larger = new PageBuffer(Math.Max(bytes, Math.Min(2 * buffer.Capacity, UsualBytesMax)));
        buffer.Room[..keep].CopyTo(larger.Room);
        buffer = larger;
    }
}
