using System.Text;
using Ambrosia.Protocol.Runs;

namespace Ambrosia;

/// <summary>
/// An idempotency key of an impulse, 1 to 128 bytes; a string stands for its UTF-8. Within the key's window the same key takes effect once,
/// however often it is sent.
/// </summary>
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

    /// <summary>Makes a key of the UTF-8 of a string.</summary>
    public static implicit operator ImpulseKey(string key) => new(Encoding.UTF8.GetBytes(key));

    /// <summary>Makes a key of bytes.</summary>
    public static implicit operator ImpulseKey(ReadOnlySpan<byte> key) => new(key);

    /// <summary>Makes a key of bytes.</summary>
    public static implicit operator ImpulseKey(byte[] key) => new(key);
}
