using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol;

/// <summary>
/// Walks the messages of one run (protocol P3.3) without allocating: <c>while (reader.Next()) { … reader.Arguments … }</c>.
/// The app's dispatch runs on it, so the common message (one- or two-byte length, kinds without a key) stays on a short path.
/// Every length is checked against the bytes that are there; spans are views on the run.
/// </summary>
public ref struct MessageReader
{
    private readonly bool _hasCall;
    private readonly bool _hasKey;

    /// <summary>What has not been read yet.</summary>
    private ReadOnlySpan<byte> _left;

    public MessageReader(RunView run) : this(run.Messages, run.Header.Kind, run.Header.Keyed) { }

    public MessageReader(ReadOnlySpan<byte> messages, MessageKind kind, bool keyed)
    {
        _left = messages;
        _hasCall = kind is MessageKind.Call or MessageKind.Result or MessageKind.Failure or MessageKind.ClientAnswer;
        _hasKey = keyed;
    }

    /// <summary>Method id, never 0.</summary>
    public uint Method { get; private set; }

    /// <summary>Counter of the caller's call id, or the client's request; 0 for kinds without one.</summary>
    public ulong CallId { get; private set; }

    /// <summary>Idempotency key, 1 to 128 bytes; empty in runs that are not keyed.</summary>
    public ReadOnlySpan<byte> Key { get; private set; }

    /// <summary>Arguments, value or failure, by kind, to the message's end.</summary>
    public ReadOnlySpan<byte> Arguments { get; private set; }

    /// <summary>The whole message as it stands in the run, length included: what channel hashes are fed with.</summary>
    public ReadOnlySpan<byte> Whole { get; private set; }

    /// <summary>Goes to the next message; false after the last.</summary>
    /// <exception cref="ProtocolViolation">P3.1, P3.3, P3.4 or P4.5.</exception>
    public bool Next()
    {
        ReadOnlySpan<byte> left = _left;
        if (left.IsEmpty) return false;

        ulong length;
        int size;
        if (left[0] < 0x80) { length = left[0]; size = 1; }
        else if (left.Length > 1 && (uint)(left[1] - 1) < 0x7F) { length = (left[0] & 0x7Fu) | ((uint)left[1] << 7); size = 2; }
        else ReadField(left, out length, out size);
        if (length > (ulong)(left.Length - size)) throw CutOff(length, left.Length - size);

        int end = size + (int)length;
        Whole = left[..end];
        _left = left[end..];
        ReadContent(left[size..end]);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ReadContent(ReadOnlySpan<byte> content)
    {
        ulong method;
        int size;
        if (content.Length > 0 && content[0] < 0x80) { method = content[0]; size = 1; }
        else ReadField(content, out method, out size);
        if (method - 1 >= uint.MaxValue) throw BadMethod(method);
        Method = (uint)method;
        content = content[size..];
        if (_hasCall)
        {
            ReadField(content, out ulong call, out size);
            CallId = call;
            content = content[size..];
        }
        Arguments = _hasKey ? TakeKey(content) : content;
    }

    private ReadOnlySpan<byte> TakeKey(ReadOnlySpan<byte> content)
    {
        ReadField(content, out ulong length, out int size);
        if (length is 0 or > KeyBytesMax || length > (ulong)(content.Length - size)) throw new ProtocolViolation("P3.3", $"key of {length} bytes");
        int end = size + (int)length;
        Key = content[size..end];
        return content[end..];
    }

    /// <summary>Idempotency keys are at most this long.</summary>
    public const int KeyBytesMax = 128;

    private static void ReadField(ReadOnlySpan<byte> from, out ulong value, out int size)
    {
        DecodeStatus status = Varint.TryRead(from, out value, out size);
        if (status == DecodeStatus.NeedMore) throw new ProtocolViolation("P3.3", "a message ends inside a field");
        if (status == DecodeStatus.Malformed) throw new ProtocolViolation("P1.2", "malformed varint in a message");
    }

    private static ProtocolViolation CutOff(ulong length, int left) => new("P3.1", $"message of {length} bytes where {left} are left in its run");

    private static ProtocolViolation BadMethod(ulong method) => method == 0
        ? new("P4.5", "message with method 0")
        : new("P3.4", $"method id {method} does not fit 32 bits");
}
