using System.Buffers.Binary;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Protocol.Frames;

/// <summary>The header is the 16 bytes in front of every payload (protocol P2).</summary>
public readonly record struct FrameHeader(uint Length, FrameType Type, uint PayloadCrc)
{
    public const int Bytes = 16;

    /// <summary>Writes the header and its checksum, which starts from the connection's seed (P2.2).</summary>
    public void Write(Span<byte> to, uint seed)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Length);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], (byte)Type);
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], PayloadCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(to[12..], Crc32C.Append(seed, to[..12]));
    }

    /// <summary>Reads a header from at least 16 bytes and checks everything but the payload.</summary>
    /// <exception cref="ProtocolViolation">P2.1, P1.6, P2.3 or P2.4.</exception>
    public static FrameHeader Read(ReadOnlySpan<byte> from, uint seed, uint payloadBytesMax)
    {
        if (BinaryPrimitives.ReadUInt32LittleEndian(from[12..]) != Crc32C.Append(seed, from[..12])) throw BadCrc();
        uint word = BinaryPrimitives.ReadUInt32LittleEndian(from[4..]);
        if (word > 0xFF) throw new ProtocolViolation("P1.6", $"frame flags or reserved bytes are set (0x{word:X8})");
        var type = (FrameType)word;
        if (!FrameTypes.IsKnown(type)) throw UnknownType(type);
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(from);
        if (length > payloadBytesMax) throw TooLong(length, payloadBytesMax);
        return new FrameHeader(length, type, BinaryPrimitives.ReadUInt32LittleEndian(from[8..]));
    }

    private static ProtocolViolation UnknownType(FrameType type) => new("P2.4", $"frame of unknown type 0x{(byte)type:X2}");

    private static ProtocolViolation BadCrc() => new("P2.1", "frame header with a wrong checksum");

    private static ProtocolViolation TooLong(uint length, uint max) =>
        new("P2.3", $"frame of {length} bytes where at most {max} are allowed");
}
