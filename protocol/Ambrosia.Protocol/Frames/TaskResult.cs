using System.Buffers;
using System.Buffers.Binary;

namespace Ambrosia.Protocol.Frames;

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
