using System.Buffers.Binary;

namespace Ambrosia.Protocol.Records;

/// <summary>The header is the 8 bytes in front of every record's body (log-format L5).</summary>
public readonly record struct RecordHeader(uint Length, RecordKind Kind)
{
    public const int Bytes = SizeLimits.RecordHeaderBytes;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Length);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], (byte)Kind);
    }

    /// <summary>Reads the header at the start of <paramref name="records"/>; the whole record must be there.</summary>
    /// <exception cref="ProtocolViolation">L5.1 or L5.10.</exception>
    public static RecordHeader Read(ReadOnlySpan<byte> records)
    {
        if (records.Length < Bytes) throw new ProtocolViolation("L5.10", $"{records.Length} bytes are too few for a record");
        uint word = BinaryPrimitives.ReadUInt32LittleEndian(records[4..]);
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(records);
        if (word > byte.MaxValue || !((RecordKind)word == RecordKind.NondetResults || RecordKinds.IsDefined((RecordKind)word)))
            throw new ProtocolViolation("L5.1", $"record of kind 0x{word:X}: written by a newer version");
        if (length > (uint)(records.Length - Bytes))
            throw new ProtocolViolation("L5.10", $"record of {length} bytes where {records.Length - Bytes} are left");
        return new RecordHeader(length, (RecordKind)word);
    }
}
