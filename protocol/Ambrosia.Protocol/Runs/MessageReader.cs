using System.Runtime.CompilerServices;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol.Runs;

/// <summary>
/// Walks the messages of one run (protocol P3.3) without allocating: <c>while (reader.Next()) { … reader.Arguments … }</c>.
/// The app's dispatch runs on it, so the common message (one- or two-byte length, one-byte method, no key) stays on a short path and spans
/// are made only when asked for. Invariant: <c>_start ≤ _argumentsAt ≤ _at ≤ _messages.Length</c>; every length was checked
/// against the bytes there.
/// </summary>
public ref struct MessageReader
{
    /// <summary>Idempotency keys have at most this many bytes.</summary>
    public const int KeyBytesMax = 128;

    private readonly ReadOnlySpan<byte> _messages;
    private readonly bool _hasCall;
    private readonly bool _hasKey;

    /// <summary>The offsets at which the current message, its arguments and the next message begin.</summary>
    private int _start, _argumentsAt, _at;

    /// <summary>The number of bytes of the current key, which stands in front of the arguments.</summary>
    private int _keyLength;

    public MessageReader(RunView run) : this(run.Messages, run.Header.Kind, run.Header.Keyed) { }

    public MessageReader(ReadOnlySpan<byte> messages, MessageKind kind, bool keyed)
    {
        _messages = messages;
        _hasCall = kind is MessageKind.Call or MessageKind.Result or MessageKind.Failure or MessageKind.ClientAnswer
            or MessageKind.ClientFailure;
        _hasKey = keyed;
    }

    /// <summary>The method id, which is never 0.</summary>
    public uint Method { get; private set; }

    /// <summary>The counter of the caller's call id, or the number of the client's request; 0 for kinds that have neither.</summary>
    public ulong CallId { get; private set; }

    /// <summary>True when the messages have idempotency keys.</summary>
    public readonly bool IsKeyed => _hasKey;

    /// <summary>The idempotency key of 1 to 128 bytes; empty in runs that are not keyed.</summary>
    public readonly ReadOnlySpan<byte> Key => _messages.Slice(_argumentsAt - _keyLength, _keyLength);

    /// <summary>The arguments, value or failure, by the run's kind; they reach to the message's end.</summary>
    public readonly ReadOnlySpan<byte> Arguments => _messages[_argumentsAt.._at];

    /// <summary>The whole message as it stands in the run, length included. Channel hashes cover exactly these bytes.</summary>
    public readonly ReadOnlySpan<byte> Whole => _messages[_start.._at];

    /// <summary>Goes to the next message; returns false after the last.</summary>
    /// <exception cref="ProtocolViolation">P1.2, P3.1, P3.3, P3.4 or P4.5.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // the walk's fields then live in registers
    public bool Next()
    {
        int start = _at;
        if (start >= _messages.Length) return false;

        // One byte of length and one of method, both there: two of three messages of a typical run.
        int length = _messages[start], content = start + 1;
        if (length >= 0x80) length = LongLength(start, out content);
        if (length > _messages.Length - content) throw CutOff(length, _messages.Length - content);
        int end = content + length;

        uint method = 0;
        if (content < end) method = _messages[content++];
        if (method - 1 >= 0x7F) method = LongMethod(start, end, out content);
        Method = method;
        if (_hasCall) CallId = Field(end, ref content);
        if (_hasKey) PassKey(end, ref content);
        _start = start;
        _argumentsAt = content;
        _at = end;
        return true;
    }

    /// <summary>
    /// Reads a length of two bytes or more; <paramref name="content"/> is the offset behind it, where the content begins.
    /// </summary>
    private readonly int LongLength(int start, out int content)
    {
        ReadOnlySpan<byte> from = _messages[start..];
        if (from.Length > 1 && (uint)(from[1] - 1) < 0x7F)
        {
            content = start + 2;
            return (from[0] & 0x7F) | (from[1] << 7);
        }
        content = start;
        ulong length = Field(_messages.Length, ref content);
        return length <= int.MaxValue ? (int)length : throw CutOff((long)Math.Min(length, long.MaxValue), _messages.Length - content);
    }

    private readonly uint LongMethod(int start, int end, out int content)
    {
        content = start;
        Field(_messages.Length, ref content); // the length once more
        ulong method = Field(end, ref content);
        if (method == 0) throw new ProtocolViolation("P4.5", "message with method 0");
        return method <= uint.MaxValue ? (uint)method : throw new ProtocolViolation("P3.4", $"method id {method} does not fit 32 bits");
    }

    private void PassKey(int end, ref int content)
    {
        ulong length = Field(end, ref content);
        if (length is 0 or > KeyBytesMax || length > (ulong)(end - content)) throw new ProtocolViolation("P3.3", $"key of {length} bytes");
        _keyLength = (int)length;
        content += (int)length;
    }

    /// <summary>Reads a varint at <paramref name="at"/> of a message that ends at <paramref name="end"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private readonly ulong Field(int end, ref int at)
    {
        DecodeStatus status = Varint.TryRead(_messages[at..end], out ulong value, out int size);
        if (status != DecodeStatus.Ok) throw BadField(status);
        at += size;
        return value;
    }

    private static ProtocolViolation BadField(DecodeStatus status) => status == DecodeStatus.NeedMore
        ? new("P3.3", "a message ends inside a field")
        : new("P1.2", "malformed varint in a message");

    private static ProtocolViolation CutOff(long length, int left) =>
        new("P3.1", $"message of {length} bytes where {left} are left in its run");
}
