using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Format;

/// <summary>Encodes and decodes the 64 bytes in front of every page (log-format L4).</summary>
/// <param name="Length">Bytes of header and records, without padding.</param>
/// <param name="DurableUpTo">Every page below this was flushed and fence-checked when the header was made.</param>
/// <param name="TimeMicros">µs since 1970, never decreasing along the log.</param>
/// <param name="PreviousHash">Hash (L4.5) of the page before; 0 for the first page of a log.</param>
/// <param name="PayloadCrc">CRC-32C of the records.</param>
/// <param name="Remaining">Bytes of a spanning record that follow in later pages.</param>
/// <param name="AppVersion">The app version that the page's record brings into force; 0 unless the page states one.</param>
public readonly record struct PageHeader(
    int Length, PageFlags Flags, Epoch Epoch, Lsn Lsn, Lsn DurableUpTo, long TimeMicros, ulong PreviousHash,
    uint PayloadCrc, uint Remaining, uint AppVersion = 0)
{
    public const int Bytes = 64;
    public const uint Magic = 0x3147_5041;

    private const PageFlags KnownFlags = PageFlags.DurableMark | PageFlags.BeginsSpanning | PageFlags.ContinuesSpanning
        | PageFlags.StatesVersion;

    /// <summary>The number of bytes that the page takes in its file, padding included.</summary>
    public int Footprint => AlignedBlock.RoundUp(Length);

    /// <summary>The position where the next page begins.</summary>
    public Lsn Next => Lsn + Footprint;

    /// <summary>Returns the seed of headerCrc, which binds a page to its instance.</summary>
    public static uint SeedOf(Guid uuid, ushort shard)
    {
        Span<byte> bytes = stackalloc byte[18];
        uuid.TryWriteBytes(bytes, bigEndian: true, out _);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[16..], shard);
        return Crc32C.Of(bytes);
    }

    /// <summary>Returns the hash of a page (L4.5), which covers its header as it stands on disk.</summary>
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
        BinaryPrimitives.WriteUInt32LittleEndian(to[60..], Flags == PageFlags.StatesVersion ? AppVersion : Remaining);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Crc32C.Append(seed, to[8..Bytes]));
    }

    /// <summary>
    /// Reads a header from at least 64 bytes and makes the checks that need no more than these: magic, headerCrc, flags and length. Returns
    /// false when one of them fails.
    /// </summary>
    public static bool TryRead(ReadOnlySpan<byte> from, uint seed, out PageHeader header) => Read(from, seed, out header) is null;

    /// <summary>Reads a header like <see cref="TryRead"/>, and says what is wrong with it.</summary>
    /// <param name="header">Set unless the checksum is wrong. When it breaks a rule, only its place may be used.</param>
    /// <returns>What is wrong, or null.</returns>
    internal static PageFault? Read(ReadOnlySpan<byte> from, uint seed, out PageHeader header)
    {
        header = default;
        uint magic = BinaryPrimitives.ReadUInt32LittleEndian(from);
        if (magic != Magic) return new PageFault($"a page (0x{Magic:X8})", $"0x{magic:X8}");
        uint crc = Crc32C.Append(seed, from[8..Bytes]), stated = BinaryPrimitives.ReadUInt32LittleEndian(from[4..]);
        if (crc != stated) return new PageFault($"headerCrc 0x{crc:X8}", $"0x{stated:X8}");
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]);
        uint flags = BinaryPrimitives.ReadUInt32LittleEndian(from[12..]);
        uint rest = BinaryPrimitives.ReadUInt32LittleEndian(from[60..]);
        bool statesVersion = flags == (uint)PageFlags.StatesVersion;
        header = new PageHeader(
            (int)length, (PageFlags)flags,
            new Epoch(BinaryPrimitives.ReadUInt64LittleEndian(from[16..])),
            new Lsn(BinaryPrimitives.ReadUInt64LittleEndian(from[24..])),
            new Lsn(BinaryPrimitives.ReadUInt64LittleEndian(from[32..])),
            BinaryPrimitives.ReadInt64LittleEndian(from[40..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[48..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[56..]),
            statesVersion ? 0 : rest, statesVersion ? rest : 0);
        if (length is < Bytes or > (uint)LogFormat.PageLengthMax)
            return new PageFault($"a page of {Bytes} to {LogFormat.PageLengthMax} bytes", $"length {length}").OfIntactPage();
        return header.CheckFlags(flags)?.OfIntactPage();
    }

    /// <summary>Checks L4.3 and L4.4: the flags exclude one another, and each says what a page may hold.</summary>
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
        if (Flags == PageFlags.StatesVersion && AppVersion == 0) return new PageFault("an app version from 1 on", "0");
        if (DurableUpTo > Lsn) return new PageFault($"durableUpTo of at most {Lsn}", $"{DurableUpTo}");
        return null;
    }
}

/// <summary>
/// Says why bytes are no valid page (log-format L4.2). Whether that means a torn tail or a halt depends on the rest of the log.
/// </summary>
/// <param name="IsBlank">True when there is nothing at all: zeros, or the end of the file.</param>
/// <param name="IsStale">True for a page of the earlier life of a file that was recycled (log-format L3.5).</param>
/// <param name="IsIntact">True when the page is as it was written, at its place: its writer broke a rule, or is a newer one. No crash
/// leaves such a page, so it is never torn.</param>
/// <param name="Record">The record of an intact page that breaks the rule; null when the fault is about the page.</param>
internal sealed record PageFault(
    string Expected, string Found, bool IsBlank = false, bool IsStale = false, bool IsIntact = false, bool IsCut = false,
    bool IsUnreadable = false, Lsn? Record = null)
{
    /// <summary>True when it is what stands behind the last page of a log that nothing happened to.</summary>
    public bool IsNothing => IsBlank || IsStale;

    /// <summary>
    /// Says why no crash leaves such a page, whatever the rest of the log states; null where one may (log-format L4.2, L3.6).
    /// </summary>
    public string? WhyNeverTorn => IsCut ? "its header states this length, and no crash makes a segment's file shorter"
        : IsIntact ? "its checksums hold, and no crash leaves such a page"
        : IsUnreadable ? "nobody can say what stands there" : null;

    /// <summary>Makes the fault of a page that the disk does not give back.</summary>
    public static PageFault Unreadable(IOException why) => new("a page that can be read", why.Message, IsUnreadable: true);

    /// <summary>Returns the same fault of a page whose checksums hold.</summary>
    public PageFault OfIntactPage(Lsn? record = null) => this with { IsIntact = true, Record = record };
}

/// <summary>Says what is special about a page (log-format L4); a page has at most one flag.</summary>
[Flags]
public enum PageFlags : ushort
{
    None = 0,

    /// <summary>The page has no records: it only states durableUpTo.</summary>
    DurableMark = 1,

    /// <summary>The page holds the beginning of one record that later pages continue.</summary>
    BeginsSpanning = 2,

    /// <summary>The page continues the record of the page before.</summary>
    ContinuesSpanning = 4,

    /// <summary>The page begins a segment and holds one record, which brings an app version into force.</summary>
    StatesVersion = 8,
}
