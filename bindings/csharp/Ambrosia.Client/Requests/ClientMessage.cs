using System.Buffers;
using System.ComponentModel;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Client;

/// <summary>
/// Encodes one message: the method, the key, and then what <see cref="Body"/> receives. Generated code uses it, on one thread.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class ClientMessage
{
    private readonly ArrayBufferWriter<byte> _content = new(64);
    private readonly bool _isKeyed;

    /// <summary>Begins a query, of which only the arguments are encoded here.</summary>
    internal ClientMessage(uint method, string? name) => (Method, Name) = (method, name);

    /// <summary>Begins a request or an impulse; an empty key means none.</summary>
    internal ClientMessage(uint method, ReadOnlySpan<byte> key, string? name = null)
    {
        (Method, Name) = (method, name);
        WriteVarint(method);
        _isKeyed = !key.IsEmpty;
        if (!_isKeyed) return;
        WriteVarint((ulong)key.Length);
        _content.Write(key);
    }

    internal uint Method { get; }

    /// <summary>The method's name with its contract; null where only the number is known.</summary>
    internal string? Name { get; }

    internal byte[] Arguments => _content.WrittenSpan.ToArray();

    /// <summary>The buffer for arguments whose size is not known.</summary>
    public IBufferWriter<byte> Body => _content;

    /// <summary>Returns room for at least this many bytes; <see cref="Advance"/> says how much of it was written.</summary>
    public Span<byte> Reserve(int bytes) => _content.GetSpan(bytes);

    /// <summary>Keeps this many bytes of what was reserved.</summary>
    public void Advance(long bytes) => _content.Advance((int)bytes);

    /// <summary>Makes the request of a message that is complete.</summary>
    internal ClientRequest ToRequest(bool isImpulse)
    {
        int length = _content.WrittenCount;
        byte[] message = new byte[Varint.SizeOf((ulong)length) + length];
        _content.WrittenSpan.CopyTo(message.AsSpan(Varint.Write(message, (ulong)length)));
        return new ClientRequest(isImpulse, _isKeyed, message, length) { Name = Name };
    }

    private void WriteVarint(ulong value) => _content.Advance(Varint.Write(_content.GetSpan(Varint.BytesMax), value));
}
