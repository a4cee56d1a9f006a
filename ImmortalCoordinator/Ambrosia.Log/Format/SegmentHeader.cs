using System.Buffers.Binary;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Log.Format;

/// <summary>
/// Encodes and decodes the first 4,096 bytes of a segment (log-format L3), and checks that they are of the segment that the file's name
/// says.
/// </summary>
/// <param name="Number">Counts from 1.</param>
/// <param name="FirstLsn">Lsn of the first page; also the seal, at which the predecessor ends.</param>
/// <param name="PredecessorNumber">0 means none: this is the first segment of the log.</param>
/// <param name="PredecessorHash">Hash of the last page before the seal; 0 means none.</param>
/// <param name="AppVersion">Version of the app at <paramref name="FirstLsn"/>.</param>
/// <param name="CreatedMicros">µs since 1970.</param>
internal sealed record SegmentHeader(
    ushort Shard, Guid Uuid, ulong Number, Epoch Epoch, Lsn FirstLsn, ulong PredecessorNumber, Epoch PredecessorEpoch,
    ulong PredecessorHash, uint AppVersion, ulong DigestEvery, long CreatedMicros)
{
    public const int Bytes = LogFormat.SegmentHeaderBytes;

    private const ushort Format = 2;
    private const byte BufferedWithFlush = 1, DirectWithFlush = 2, Recycled = 1;
    private const int FileBytesAt = 112, FieldsEnd = 120, CrcAt = Bytes - 4;

    /// <summary>True when pages are written past the page cache.</summary>
    public bool IsDirect { get; init; }

    /// <summary>True when the file was a segment before: pages of that life may stand behind the last page of this one (L3.5).</summary>
    public bool IsRecycled { get; init; }

    /// <summary>
    /// The length of the file, which it has before it has its name and until it loses it; pages never stand behind it (L3.6).
    /// </summary>
    public long FileBytes { get; init; }

    private static ReadOnlySpan<byte> Magic => "AMBRLOG1"u8;

    /// <summary>Returns the offset in the file of the page at <paramref name="lsn"/> (L2.2).</summary>
    public long OffsetOf(Lsn lsn) => Bytes + (lsn - FirstLsn);

    /// <summary>Returns the position that stands at a place of the file, which is behind the header.</summary>
    public Lsn LsnAt(long offset) => FirstLsn + (offset - Bytes);

    public void Write(Span<byte> to)
    {
        to[..Bytes].Clear();
        Magic.CopyTo(to);
        BinaryPrimitives.WriteUInt16LittleEndian(to[8..], Format);
        BinaryPrimitives.WriteUInt16LittleEndian(to[10..], Shard);
        BinaryPrimitives.WriteUInt32LittleEndian(to[12..], Bytes);
        Uuid.TryWriteBytes(to[16..], bigEndian: true, out _);
        BinaryPrimitives.WriteUInt64LittleEndian(to[32..], Number);
        BinaryPrimitives.WriteUInt64LittleEndian(to[40..], Epoch.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[48..], FirstLsn.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[56..], PredecessorNumber);
        BinaryPrimitives.WriteUInt64LittleEndian(to[64..], PredecessorEpoch.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[72..], FirstLsn.Value);
        BinaryPrimitives.WriteUInt64LittleEndian(to[80..], PredecessorHash);
        BinaryPrimitives.WriteUInt32LittleEndian(to[88..], AppVersion);
        to[92] = IsDirect ? DirectWithFlush : BufferedWithFlush;
        to[93] = IsRecycled ? Recycled : (byte)0;
        BinaryPrimitives.WriteUInt64LittleEndian(to[96..], DigestEvery);
        BinaryPrimitives.WriteInt64LittleEndian(to[104..], CreatedMicros);
        BinaryPrimitives.WriteInt64LittleEndian(to[FileBytesAt..], FileBytes);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcAt..], Crc32C.Of(to[..CrcAt]));
    }

    /// <summary>Reads the header of the segment at <paramref name="file"/>.</summary>
    /// <exception cref="LogDamage">The bytes are damaged, or are not the header of <paramref name="name"/> of this
    /// instance (L3.1).</exception>
    public static SegmentHeader Read(ReadOnlySpan<byte> from, string file, SegmentFileName name, Guid uuid, ushort shard)
    {
        if (from.Length < Bytes) throw new LogDamage(file, 0, null, $"a header of {Bytes} bytes", $"{from.Length} bytes");
        uint crc = Crc32C.Of(from[..CrcAt]), stated = BinaryPrimitives.ReadUInt32LittleEndian(from[CrcAt..]);
        if (crc != stated) throw new LogDamage(file, CrcAt, null, $"header CRC 0x{crc:X8}", $"0x{stated:X8}");
        if (!from.StartsWith(Magic)) throw new LogDamage(file, 0, null, "AMBRLOG1", Convert.ToHexString(from[..8]));
        ushort format = BinaryPrimitives.ReadUInt16LittleEndian(from[8..]);
        if (format != Format)
            throw new LogDamage(file, 8, null, $"log format {Format}",
                $"{format}: written by {(format < Format ? "an older" : "a newer")} version");
        var header = new SegmentHeader(
            BinaryPrimitives.ReadUInt16LittleEndian(from[10..]),
            new Guid(from.Slice(16, 16), bigEndian: true),
            BinaryPrimitives.ReadUInt64LittleEndian(from[32..]),
            new Epoch(BinaryPrimitives.ReadUInt64LittleEndian(from[40..])),
            new Lsn(BinaryPrimitives.ReadUInt64LittleEndian(from[48..])),
            BinaryPrimitives.ReadUInt64LittleEndian(from[56..]),
            new Epoch(BinaryPrimitives.ReadUInt64LittleEndian(from[64..])),
            BinaryPrimitives.ReadUInt64LittleEndian(from[80..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[88..]),
            BinaryPrimitives.ReadUInt64LittleEndian(from[96..]),
            BinaryPrimitives.ReadInt64LittleEndian(from[104..]))
        {
            IsDirect = from[92] == DirectWithFlush,
            IsRecycled = from[93] == Recycled,
            FileBytes = BinaryPrimitives.ReadInt64LittleEndian(from[FileBytesAt..]),
        };
        header.CheckFields(from, file);
        header.CheckFileBytes(file);
        header.CheckPlace(file, name, uuid, shard);
        return header;
    }

    /// <summary>Returns true when the bytes are a header with intact CRC that names the same segment.</summary>
    public static bool IsThatOf(ReadOnlySpan<byte> from, SegmentHeader header) =>
        from.StartsWith(Magic) && Crc32C.Of(from[..CrcAt]) == BinaryPrimitives.ReadUInt32LittleEndian(from[CrcAt..])
        && new Guid(from.Slice(16, 16), bigEndian: true) == header.Uuid
        && BinaryPrimitives.ReadUInt64LittleEndian(from[32..]) == header.Number
        && BinaryPrimitives.ReadUInt64LittleEndian(from[40..]) == header.Epoch.Value;

    private void CheckFields(ReadOnlySpan<byte> from, string file)
    {
        uint headerBytes = BinaryPrimitives.ReadUInt32LittleEndian(from[12..]);
        if (headerBytes != Bytes) throw new LogDamage(file, 12, null, $"headerBytes {Bytes}", $"{headerBytes}");
        if (FirstLsn.Value >= Lsn.Limit || FirstLsn.Value % LogFormat.BlockBytes != 0)
            throw new LogDamage(file, 48, null, $"a first Lsn that is a multiple of {LogFormat.BlockBytes} below 2^62", $"{FirstLsn}");
        ulong seal = BinaryPrimitives.ReadUInt64LittleEndian(from[72..]);
        if (seal != FirstLsn.Value) throw new LogDamage(file, 72, null, $"the seal at the first Lsn {FirstLsn}", $"{seal}");
        if (PredecessorNumber == 0 && (FirstLsn != Lsn.Zero || PredecessorHash != 0 || PredecessorEpoch.Value != 0))
            throw new LogDamage(file, 56, null, "a predecessor, or a log that begins at 0", $"none, first Lsn {FirstLsn}");
        if (PredecessorNumber >= Number || PredecessorEpoch > Epoch)
            throw new LogDamage(file, 56, null, $"a predecessor before segment {Number} of epoch {Epoch}",
                $"segment {PredecessorNumber} of epoch {PredecessorEpoch}");
        if (from[92] is not (BufferedWithFlush or DirectWithFlush)) throw new LogDamage(file, 92, null, "write mode 1 or 2", $"{from[92]}");
        if (DigestEvery < 1 << 20 || DigestEvery % LogFormat.BlockBytes != 0)
            throw new LogDamage(file, 96, null, "digestEvery that is a multiple of 4,096 and at least 1 MiB", $"{DigestEvery}");
        if (from[93] > Recycled || from[94..96].ContainsAnyExcept((byte)0) || from[FieldsEnd..CrcAt].ContainsAnyExcept((byte)0))
            throw new LogDamage(file, 93, null, "zeros in reserved bytes", "other bytes: written by a newer version");
    }

    private void CheckFileBytes(string file)
    {
        if (FileBytes < Bytes + LogFormat.BlockBytes || FileBytes % LogFormat.BlockBytes != 0)
            throw new LogDamage(file, FileBytesAt, null,
                $"a file length that is a multiple of {LogFormat.BlockBytes} and leaves room for a page", $"{FileBytes}");
    }

    private void CheckPlace(string file, SegmentFileName name, Guid uuid, ushort shard)
    {
        if (Uuid != uuid || Shard != shard)
            throw new LogDamage(file, 16, null, $"instance {uuid} shard {shard}", $"{Uuid} shard {Shard}");
        if (Number != name.Number || Epoch != name.Epoch)
            throw new LogDamage(file, 32, null, $"segment {name.Number} of epoch {name.Epoch}", $"segment {Number} of epoch {Epoch}");
    }
}
