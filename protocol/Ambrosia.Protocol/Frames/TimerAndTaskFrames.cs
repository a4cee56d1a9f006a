using System.Buffers;
using System.Buffers.Binary;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Frames;

/// <summary>States that the app waits for a timer (protocol P5.14). A later frame for the same timer changes when it is due.</summary>
/// <param name="Timer">Number of the timer among all of the instance's life, from 1.</param>
/// <param name="DueUs">Time at which it is due, in microseconds since 1970.</param>
public readonly record struct TimerSet(ulong Timer, long DueUs) : IFramePayload<TimerSet>
{
    public static FrameType Type => FrameType.TimerSet;

    public int BytesMax => 16;

    public void Write(ref PayloadWriter to)
    {
        to.U64(Timer);
        to.I64(DueUs);
    }

    public static TimerSet Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.14");
        var set = new TimerSet(from.U64(), from.I64());
        if (set.Timer == 0) throw from.Violation("P5.14", "timer 0");
        from.End();
        return set;
    }
}

/// <summary>States that the app no longer waits for a timer, because it fired or was cancelled (protocol P5.14).</summary>
public readonly record struct TimerDropped(ulong Timer) : IFramePayload<TimerDropped>
{
    public static FrameType Type => FrameType.TimerDropped;

    public int BytesMax => 8;

    public void Write(ref PayloadWriter to) => to.U64(Timer);

    public static TimerDropped Read(ReadOnlySpan<byte> payload)
    {
        var from = PayloadReader.OfFrame(payload, "P5.14");
        var dropped = new TimerDropped(from.U64());
        if (dropped.Timer == 0) throw from.Violation("P5.14", "timer 0");
        from.End();
        return dropped;
    }
}

/// <summary>
/// Carries the result of a NondetTask (protocol P5.15). The payload is the body of the NondetResult record that it becomes (log-format
/// L5.9).
/// </summary>
public static class TaskResult
{
    /// <summary>Task and status take this many bytes in front of the value or failure.</summary>
    public const int HeadBytes = 9;

    /// <summary>Checks a payload and returns it as the body of the record.</summary>
    /// <exception cref="ProtocolViolation">P5.15: the payload is no such body, or longer than the message limit allows.</exception>
    public static ReadOnlySpan<byte> Read(ReadOnlySpan<byte> payload, uint messageBytesMax)
    {
        if (payload.Length < HeadBytes) throw new ProtocolViolation("P5.15", $"task result of {payload.Length} bytes");
        if (payload.Length - HeadBytes > messageBytesMax)
            throw new ProtocolViolation("P5.15",
                $"task result of {payload.Length - HeadBytes} bytes, the message limit is {messageBytesMax}");
        if (BinaryPrimitives.ReadUInt64LittleEndian(payload) == 0) throw new ProtocolViolation("P5.15", "result of task 0");
        if (payload[8] > 1) throw new ProtocolViolation("P5.15", $"task result of status {payload[8]}");
        return payload;
    }

    /// <summary>Writes the payload's head, behind which the value or failure goes.</summary>
    public static void WriteHead(IBufferWriter<byte> to, ulong task, bool failed)
    {
        Span<byte> head = to.GetSpan(HeadBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(head, task);
        head[8] = failed ? (byte)1 : (byte)0;
        to.Advance(HeadBytes);
    }
}
