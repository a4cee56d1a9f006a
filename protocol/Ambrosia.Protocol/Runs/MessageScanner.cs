using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>Checks and measures the messages of a run by their lengths alone, without decoding them (protocol P3.3).</summary>
public static class MessageScanner
{
    /// <summary>
    /// Refuses a run whose messages are not <paramref name="count"/> whole ones, each at most <paramref name="messageBytesMax"/> bytes
    /// long.
    /// </summary>
    /// <param name="seen">Number of messages of the run that stood in front of these and were checked already.</param>
    /// <exception cref="ProtocolViolation">P3.1 or P3.4.</exception>
    public static void Check(ReadOnlySpan<byte> messages, uint count, uint messageBytesMax, uint seen = 0)
    {
        int at = 0;
        while (at < messages.Length)
        {
            at += SizeAt(messages[at..], messageBytesMax);
            seen++;
        }
        if (seen != count) throw new ProtocolViolation("P3.1", $"run says {count} messages and holds {seen}");
    }

    /// <summary>
    /// Returns the size of the messages in front that have one byte of length, one byte of method, no call and no key, as most messages
    /// have. Nothing more needs a check in these, so one look at each does what <see cref="Check"/> and a <see cref="MessageReader"/> do
    /// for others.
    /// </summary>
    internal static int SkipPlain(ReadOnlySpan<byte> messages, in RunHeader header, uint messageBytesMax, out uint count)
    {
        const uint oneByteMax = 0x7F;
        count = 0;
        int at = 0;
        if (header.Keyed || header.Kind is not (MessageKind.Fork or MessageKind.Impulse) || messageBytesMax < oneByteMax) return 0;
        while (count < header.Count && at + 1 < messages.Length)
        {
            uint length = messages[at];
            if (length - 1 >= oneByteMax || messages[at + 1] - 1u >= oneByteMax || length >= (uint)(messages.Length - at)) break;
            at += 1 + (int)length;
            count++;
        }
        return at;
    }

    /// <summary>Returns the size in bytes of the first <paramref name="count"/> messages, which is where a run is cut (P6.6).</summary>
    /// <exception cref="ProtocolViolation">P3.1.</exception>
    public static int Skip(ReadOnlySpan<byte> messages, uint count)
    {
        int at = 0;
        for (uint i = 0; i < count; i++) at += SizeAt(messages[at..], uint.MaxValue);
        return at;
    }

    /// <summary>Returns the length of the longest message without its length field, to which the message limit applies (P3.4).</summary>
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

    /// <summary>Returns the whole size, length field included, of the message at the start of <paramref name="bytes"/>.</summary>
    private static int SizeAt(ReadOnlySpan<byte> bytes, uint messageBytesMax)
    {
        if (Varint.TryRead(bytes, out ulong length, out int size) != DecodeStatus.Ok || length == 0
            || length > (ulong)(bytes.Length - size))
            throw new ProtocolViolation("P3.1", "a message of the run is cut off or has a malformed length");
        if (length > messageBytesMax)
            throw new ProtocolViolation("P3.4", $"message of {length} bytes where at most {messageBytesMax} are allowed");
        return size + (int)length;
    }
}
