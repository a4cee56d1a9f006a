using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>The 64 bytes in front of every page (log-format L4).</summary>
/// <param name="Length">Header and records in bytes, without padding.</param>
/// <param name="DurableUpTo">Every page below was flushed and fence-checked when this header was made.</param>
/// <param name="TimeMicros">µs since 1970, never decreasing along the log.</param>
/// <param name="PreviousHash">Hash (L4.5) of the page before; 0 for the first of a log.</param>
/// <param name="PayloadCrc">CRC-32C of the records.</param>
/// <param name="Remaining">Bytes of a spanning record that follow in later pages.</param>
public readonly record struct PageHeader(
    int Length, PageFlags Flags, Epoch Epoch, Lsn Lsn, Lsn DurableUpTo, long TimeMicros, ulong PreviousHash,
    uint PayloadCrc, uint Remaining)
{
    public const int Bytes = 64;
    public const uint Magic = 0x3147_5041;

    private const PageFlags KnownFlags = PageFlags.DurableMark | PageFlags.BeginsSpanning | PageFlags.ContinuesSpanning;

    /// <summary>Bytes that the page takes in its file.</summary>
    public int Footprint => LogFormat.RoundUp(Length);

    /// <summary>Where the next page begins.</summary>
    public Lsn Next => Lsn + Footprint;

    /// <summary>Seed of headerCrc: it binds a page to its instance.</summary>
    public static uint SeedOf(Guid uuid, ushort shard)
    {
        Span<byte> bytes = stackalloc byte[18];
        uuid.TryWriteBytes(bytes, bigEndian: true, out _);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[16..], shard);
        return Crc32C.Of(bytes);
    }

    /// <summary>Hash of a page (L4.5), of its header as it stands on disk.</summary>
    public static ulong HashOf(ReadOnlySpan<byte> page) => ChannelHash.Append(0, page[..Bytes]);

    public void Write(Span<byte> to, uint seed)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], (uint)Length);
        BinaryPrimitives.WriteUInt16LittleEndian(to[12..], (ushort)Flags);
        BinaryPrimitives.WriteUInt16LittleEndian(to[14..], 0);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], Epoch.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], Lsn.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[32..], DurableUpTo.Value);
        BinaryPrimitives.WriteInt64LittleEndian(to[40..], TimeMicros);
        BinaryPrimitives.WriteUInt64LittleEndian(to[48..], PreviousHash);
        BinaryPrimitives.WriteUInt32LittleEndian(to[56..], PayloadCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(to[60..], Remaining);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Crc32C.Append(seed, to[8..Bytes]));
    }

    /// <summary>
    /// Reads a header from at least 64 bytes and checks all that can be checked without the page: magic, headerCrc, flags and length.
    /// </summary>
    /// <param name="header">Set unless the checksum is wrong; not to be used when it breaks a rule, but for its place.</param>
    /// <returns>What is wrong, or null.</returns>
    public static PageFault? Read(ReadOnlySpan<byte> from, uint seed, out PageHeader header)
    {
        header = default;
        uint magic = BinaryPrimitives.ReadUInt32LittleEndian(from);
        if (magic != Magic) return new PageFault($"a page (0x{Magic:X8})", $"0x{magic:X8}");
        uint crc = Crc32C.Append(seed, from[8..Bytes]), stated = BinaryPrimitives.ReadUInt32LittleEndian(from[4..]);
        if (crc != stated) return new PageFault($"headerCrc 0x{crc:X8}", $"0x{stated:X8}");
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]);
        uint flags = BinaryPrimitives.ReadUInt32LittleEndian(from[12..]);
        header = new PageHeader(
            (int)length, (PageFlags)flags,
            new Epoch(BinaryPrimitives.ReadUInt64LittleEndian(from[16..])),
            new Lsn(BinaryPrimitives.ReadUInt64LittleEndian(from[24..])),
            new Lsn(BinaryPrimitives.ReadUInt64LittleEndian(from[32..])),
            BinaryPrimitives.ReadInt64LittleEndian(from[40..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[48..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[56..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[60..]));
        if (length is < Bytes or > (uint)LogFormat.PageLengthMax)
            return new PageFault($"a page of {Bytes} to {LogFormat.PageLengthMax} bytes", $"length {length}").OfIntactPage();
        return header.CheckFlags(flags)?.OfIntactPage();
    }

    /// <summary>L4.3 and L4.4: the flags exclude one another, and each says what a page may hold.</summary>
    private PageFault? CheckFlags(uint flags)
    {
        if ((flags & ~(uint)KnownFlags) != 0 || (flags & (flags - 1)) != 0)
            return new PageFault("at most one known flag", $"flags 0x{flags:X8}");
        if (Flags == PageFlags.DurableMark && Length != Bytes)
            return new PageFault("an empty page with a durable mark", $"length {Length}");
        if (Flags == PageFlags.BeginsSpanning && Remaining == 0)
            return new PageFault("a rest of the spanning record that begins", "remaining 0");
        if (Flags is PageFlags.None or PageFlags.DurableMark && Remaining != 0)
            return new PageFault("remaining 0 outside of spanning records", $"{Remaining}");
        if (DurableUpTo > Lsn) return new PageFault($"durableUpTo of at most {Lsn}", $"{DurableUpTo}");
        return null;
    }
}
