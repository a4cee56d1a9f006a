using System.Buffers.Binary;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Protocol.Frames;

/// <summary>The header is the 24 bytes in front of the records of a Deliver frame (protocol P5.4).</summary>
/// <param name="First">Position of the first record.</param>
/// <param name="TimeUs">Time of the page, in microseconds since 1970.</param>
/// <param name="Mark">Position at which the app owes a Processed frame; zero if it owes none.</param>
public readonly record struct DeliverHeader(Lsn First, long TimeUs, Lsn Mark)
{
    public const int Bytes = SizeLimits.DeliverHeaderBytes;

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to, First.Value);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], TimeUs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], Mark.Value);
    }

    /// <summary>Reads the start of a whole payload, behind which the records stand (<see cref="RecordReader"/>).</summary>
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

/// <summary>
/// States that the app has executed all records below this position, and that everything it emitted before this frame rests on them
/// (protocol P5.6).
/// </summary>
public readonly record struct ProcessedFrame(Lsn Position) : IFramePayload<ProcessedFrame>
{
    public static FrameType Type => FrameType.Processed;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Position.Value);

    public static ProcessedFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.6");
        var frame = new ProcessedFrame(from.Lsn());
        from.End();
        return frame;
    }
}

/// <summary>Says which message the app is executing, while that takes long (protocol P5.20).</summary>
/// <param name="Place">The first record that is not executed, and the message in it.</param>
public readonly record struct ExecutingFrame(MessagePlace Place) : IFramePayload<ExecutingFrame>
{
    public const int Bytes = sizeof(ulong) + sizeof(uint);

    public static FrameType Type => FrameType.Executing;

    public int BytesMax => Bytes;

    public void Write(ref PayloadWriter to) => to.Place(Place);

    public static ExecutingFrame Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.20");
        var frame = new ExecutingFrame(from.Place());
        from.End();
        return frame;
    }
}

/// <summary>States that all impulses of this session to one destination, up to a ticket, are durable there (protocol P5.9).</summary>
/// <param name="Destination">Index that the app declared.</param>
public readonly record struct ImpulseLogged(uint Destination, ulong Ticket) : IFramePayload<ImpulseLogged>
{
    public static FrameType Type => FrameType.ImpulseLogged;

    public int BytesMax => 12;

    public void Write(ref PayloadWriter to)
    {
        to.U32(Destination);
        to.U64(Ticket);
    }

    public static ImpulseLogged Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.9");
        var logged = new ImpulseLogged(from.U32(), from.U64());
        from.End();
        return logged;
    }
}
