namespace Ambrosia.Protocol;

/// <summary>Walks the messages of a run without decoding their arguments (protocol P3.3).</summary>
public static class Messages
{
    /// <summary>Checks that <paramref name="messages"/> is exactly <paramref name="count"/> whole messages, each at most <paramref name="messageBytesMax"/> long.</summary>
    /// <exception cref="ProtocolViolation">P3.1 or P3.4.</exception>
    public static void Check(ReadOnlySpan<byte> messages, uint count, uint messageBytesMax)
    {
        int at = 0;
        uint seen = 0;
        while (at < messages.Length)
        {
            at += SizeAt(messages[at..], messageBytesMax);
            seen++;
        }
        if (seen != count) throw new ProtocolViolation("P3.1", $"run says {count} messages and holds {seen}");
    }

    /// <summary>Bytes of the first <paramref name="count"/> messages: where a run is cut (P6.6).</summary>
    /// <exception cref="ProtocolViolation">P3.1.</exception>
    public static int Skip(ReadOnlySpan<byte> messages, uint count)
    {
        int at = 0;
        for (uint i = 0; i < count; i++) at += SizeAt(messages[at..], uint.MaxValue);
        return at;
    }

    /// <summary>Length of the longest message, without its length field: what a message limit is about (P3.4).</summary>
    /// <exception cref="ProtocolViolation">P3.1.</exception>
    public static uint Longest(ReadOnlySpan<byte> messages)
    {
        ulong longest = 0;
        for (int at = 0; at < messages.Length;)
        {
            int size = SizeAt(messages[at..], uint.MaxValue);
            Varint.TryRead(messages[at..], out ulong length, out _);
            longest = Math.Max(longest, length);
            at += size;
        }
        return (uint)longest;
    }

    /// <summary>Whole size, length field included, of the message at the start of <paramref name="bytes"/>.</summary>
    private static int SizeAt(ReadOnlySpan<byte> bytes, uint messageBytesMax)
    {
        if (Varint.TryRead(bytes, out ulong length, out int size) != DecodeStatus.Ok || length == 0 || length > (ulong)(bytes.Length - size))
            throw new ProtocolViolation("P3.1", "a message of the run is cut off or has a malformed length");
        if (length > messageBytesMax) throw new ProtocolViolation("P3.4", $"message of {length} bytes where at most {messageBytesMax} are allowed");
        return size + (int)length;
    }
}
