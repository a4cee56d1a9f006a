using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// Memory for one page read from the log. Its owner is one thread; the content is that of the last
/// <see cref="LogReader.Read"/>, which may replace the buffer by a larger one. The 64 header bytes in front are the owner's to overwrite.
/// </summary>
public sealed class PageBuffer
{
    private const int UsualBytesMax = 1 << 20;

    private readonly AlignedBlock _block;

    /// <param name="bytes">Room for a page of this size, rounded up to 4,096.</param>
    public PageBuffer(int bytes = 1 << 20) =>
        _block = new AlignedBlock(LogFormat.RoundUp(Math.Max(bytes, LogFormat.BlockBytes)), zeroed: false);

    public int Capacity => _block.Length;

    /// <summary>The whole page: header, records, no padding.</summary>
    public Memory<byte> Memory => _block.Memory[..Header.Length];

    /// <summary>The whole page: header, records, no padding.</summary>
    public Span<byte> Bytes => _block.Span[..Header.Length];

    /// <summary>Whole records, or one part of a spanning record.</summary>
    public ReadOnlySpan<byte> Records => Bytes[PageHeader.Bytes..];

    /// <summary>The header as it was read, whatever has become of its bytes since.</summary>
    public PageHeader Header { get; internal set; }

    /// <summary>Header and records in bytes.</summary>
    public int Length => Header.Length;
    public Lsn Lsn => Header.Lsn;

    /// <summary>Lsn of the first record.</summary>
    public Lsn RecordsLsn => Header.Lsn + PageHeader.Bytes;

    /// <summary>Lsn of the page behind this one.</summary>
    public Lsn Next => Header.Next;
    public long TimeMicros => Header.TimeMicros;
    public PageFlags Flags => Header.Flags;
    public uint Remaining => Header.Remaining;
    public ulong PreviousHash => Header.PreviousHash;
    public Lsn DurableUpTo => Header.DurableUpTo;

    /// <summary>Hash of this page (log-format L4.5): what the page behind it states as PreviousHash.</summary>
    public ulong Hash { get; internal set; }

    internal Span<byte> Room => _block.Span;

    internal ReadOnlyMemory<byte> RoomMemory => _block.Memory;

    /// <summary>Makes room for a page of <paramref name="bytes"/>; keeps what the first <paramref name="keep"/> bytes hold.</summary>
    internal static void Grow(ref PageBuffer buffer, int bytes, int keep)
    {
        if (bytes <= buffer.Capacity) return;
        var larger = new PageBuffer(Math.Max(bytes, Math.Min(2 * buffer.Capacity, UsualBytesMax)));
        buffer.Room[..keep].CopyTo(larger.Room);
        buffer = larger;
    }
}
