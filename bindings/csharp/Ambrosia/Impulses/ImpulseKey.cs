using System.ComponentModel;
using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>
/// An idempotency key of an impulse, 1 to 128 bytes, which <c>WithKey</c> of a proxy gives. Within the key's window the same key takes
/// effect once, however often it is sent. Generated code uses it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public readonly ref struct ImpulseKey
{
    internal const int BytesMax = MessageReader.KeyBytesMax;

    /// <exception cref="ArgumentException">The key is empty or longer than 128 bytes.</exception>
    public ImpulseKey(ReadOnlySpan<byte> key)
    {
        if (key.Length is 0 or > BytesMax)
            throw new MisusedArgumentException(Misuse.KeyLength, $"{key.Length}");
        Bytes = key;
    }

    /// <summary>The bytes of the key; empty: there is none.</summary>
    internal ReadOnlySpan<byte> Bytes { get; }
}
