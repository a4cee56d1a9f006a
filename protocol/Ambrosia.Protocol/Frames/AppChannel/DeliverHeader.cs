using System.Buffers.Binary;

namespace Ambrosia.Protocol;

/// <summary>The 24 bytes in front of the records of a Deliver frame (protocol P5.4).</summary>
/// <param name="First">Position of the first record.</param>
/// <param name="TimeUs">Microseconds since 1970, of the page.</param>
/// <param name="Mark">Processed is owed exactly here; zero: nowhere.</param>
public readonly record struct DeliverHeader(Lsn First, long TimeUs, Lsn Mark)
{
    public const int Bytes = 24;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to, First.Value);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], TimeUs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], Mark.Value);
    }

    /// <summary>Reads the start of a whole payload; the records (<see cref="RecordReader"/>) stand behind it.</summary>
    /// <exception cref="ProtocolViolation">P5.4 or L2.1.</exception>
    public static DeliverHeader Read(ReadOnlySpan<byte> payload)
    {
        if (payload.Length < Bytes)
            throw new ProtocolViolation("P5.4", $"deliver frame of {payload.Length} bytes is shorter than its header");
        ulong first = BinaryPrimitives.ReadUInt64LittleEndian(payload), mark = BinaryPrimitives.ReadUInt64LittleEndian(payload[16..]);
        if (first >= Lsn.Limit || mark >= Lsn.Limit) throw new ProtocolViolation("L2.1", $"deliver frame at Lsn {first} with mark {mark}");
        return new DeliverHeader(new Lsn(first), BinaryPrimitives.ReadInt64LittleEndian(payload[8..]), new Lsn(mark));
    }
}
