using System.Buffers;
using System.ComponentModel;
using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <summary>A message that is being encoded: method, key, and then what its body receives. Used by generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class ClientMessage
{
    private readonly ArrayBufferWriter<byte> content = new(64);
    private readonly bool isKeyed;

    /// <summary>A query: its arguments alone.</summary>
    internal ClientMessage(uint method) => Method = method;

    internal ClientMessage(uint method, ReadOnlySpan<byte> key)
    {
        Method = method;
        WriteVarint(method);
        isKeyed = !key.IsEmpty;
        if (!isKeyed) return;
        WriteVarint((ulong)key.Length);
        content.Write(key);
    }

    internal uint Method { get; }

    internal byte[] Arguments => content.WrittenSpan.ToArray();

    /// <summary>Where the arguments go, if their size is not known.</summary>
    public IBufferWriter<byte> Body => content;

    /// <summary>Room for at least so many bytes; <see cref="Advance"/> keeps what was written of it.</summary>
    public Span<byte> Reserve(int bytes) => content.GetSpan(bytes);

    public void Advance(long bytes) => content.Advance((int)bytes);

    internal ClientRequest ToRequest(bool isImpulse)
    {
        int length = content.WrittenCount;
        byte[] message = new byte[Varint.SizeOf((ulong)length) + length];
        content.WrittenSpan.CopyTo(message.AsSpan(Varint.Write(message, (ulong)length)));
        return new ClientRequest(isImpulse, isKeyed, message, length);
    }

    private void WriteVarint(ulong value) => content.Advance(Varint.Write(content.GetSpan(Varint.BytesMax), value));
}
