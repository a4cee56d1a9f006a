using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol;

/// <summary>
/// Writes CBOR items in their deterministic encoding (RFC 8949 §4.2.1, protocol P4): shortest heads, definite lengths, shortest floats.
/// Nothing is allocated here; over a growable buffer end with <see cref="Flush"/>. Pass it by reference.
/// The writer does not count items: a container's header is followed by as many items as it says, and the keys of a map stand in
/// bytewise order of their encoding; both are the caller's to keep.
/// </summary>
public ref partial struct CborWriter
{
    private ByteTarget _target;
    private int _depth;

    /// <summary>Over a span with room for everything that will be written.</summary>
    public CborWriter(Span<byte> to) => _target = new ByteTarget(to);

    /// <summary>Over a growable buffer; it is asked for room only when its last stretch is full.</summary>
    public CborWriter(IBufferWriter<byte> to) => _target = new ByteTarget(to);

    /// <summary>Bytes written so far.</summary>
    public readonly long Written => _target.Written;

    /// <summary>Hands what was written to the growable buffer.</summary>
    public void Flush() => _target.Flush();

    public void WriteUInt64(ulong value) => Head(CborMajor.Unsigned, value);

    public void WriteInt64(long value)
    {
        if (value >= 0) Head(CborMajor.Unsigned, (ulong)value);
        else Head(CborMajor.Negative, (ulong)~value);
    }

    /// <summary>The number −1 − <paramref name="offset"/>: negative numbers down to −2⁶⁴.</summary>
    public void WriteNegative(ulong offset) => Head(CborMajor.Negative, offset);

    public void WriteBoolean(bool value) => _target.Put(value ? CborMajor.True : CborMajor.False);

    public void WriteNull() => _target.Put(CborMajor.Null);

    public void WriteUndefined() => _target.Put(CborMajor.Undefined);

    /// <summary>A simple value: 0–19 or 32–255. The others have writers of their own or no meaning.</summary>
    public void WriteSimple(byte value)
    {
        if (value is >= 20 and < 32) throw new ArgumentOutOfRangeException(nameof(value), value, "not a free simple value");
        if (value < 20) _target.Put((byte)(CborMajor.Other | value));
        else Head(CborMajor.Other, value);
    }

    public void WriteBytes(scoped ReadOnlySpan<byte> value)
    {
        Head(CborMajor.Bytes, (ulong)value.Length);
        _target.Put(value);
    }

    /// <exception cref="ArgumentException">The text has lone surrogates, which UTF-8 cannot say.</exception>
    public void WriteString(scoped ReadOnlySpan<char> value)
    {
        int sizeMax = value.Length * 3;
        if (sizeMax < CborMajor.ArgumentFollows && sizeMax < _target.Room)
        {
            // The head is one byte whatever the size, so the text goes behind it in one pass.
            Span<byte> to = _target.Reserve(1 + sizeMax);
            int written = PayloadWriter.StrictUtf8.GetBytes(value, to[1..]);
            to[0] = (byte)(CborMajor.Text | written);
            _target.Advance(1 + written);
            return;
        }
        int size = PayloadWriter.StrictUtf8.GetByteCount(value);
        Head(CborMajor.Text, (ulong)size);
        _target.Advance(PayloadWriter.StrictUtf8.GetBytes(value, _target.Reserve(size)));
    }

    /// <summary>Text that is UTF-8 already, as names known when the code was generated are (<c>"name"u8</c>).</summary>
    public void WriteUtf8(scoped ReadOnlySpan<byte> value)
    {
        Head(CborMajor.Text, (ulong)value.Length);
        _target.Put(value);
    }

    public void WriteSingle(float value) => SingleBits(BitConverter.SingleToUInt32Bits(value));

    public void WriteDouble(double value)
    {
        ulong bits = BitConverter.DoubleToUInt64Bits(value);
        if (CborFloat.TryNarrow(bits, out uint narrow)) SingleBits(narrow);
        else BinaryPrimitives.WriteUInt64BigEndian(Begin(CborMajor.Double, 8), bits);
    }

    /// <summary><paramref name="count"/> items follow.</summary>
    public void WriteArrayHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        Head(CborMajor.Array, (ulong)count);
    }

    /// <summary><paramref name="count"/> keys, each with its value, follow.</summary>
    public void WriteMapHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        Head(CborMajor.Map, (ulong)count);
    }

    /// <summary>The tag of the next item.</summary>
    public void WriteTag(ulong tag) => Head(CborMajor.Tag, tag);

    /// <summary>Items that are encoded already.</summary>
    public void WriteEncoded(scoped ReadOnlySpan<byte> items) => _target.Put(items);

    /// <summary>
    /// Called before the inside of a type that may contain itself: what is deeper than a reader accepts fails where it is written.
    /// </summary>
    /// <exception cref="InvalidOperationException">Nested deeper than <see cref="CborReader.DepthMax"/>.</exception>
    public void EnterNested()
    {
        if (_depth == CborReader.DepthMax)
            throw new InvalidOperationException($"a value is nested deeper than {CborReader.DepthMax}; does it contain itself?");
        _depth++;
    }

    public void LeaveNested() => _depth--;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Head(byte major, ulong argument)
    {
        if (argument < CborMajor.ArgumentFollows) _target.Put((byte)(major | argument));
        else LongHead(major, argument);
    }

    private void LongHead(byte major, ulong argument)
    {
        if (argument <= byte.MaxValue)
        {
            Span<byte> to = Begin((byte)(major | CborMajor.ArgumentFollows), 1);
            to[0] = (byte)argument;
        }
        else if (argument <= ushort.MaxValue)
            BinaryPrimitives.WriteUInt16BigEndian(Begin((byte)(major | (CborMajor.ArgumentFollows + 1)), 2), (ushort)argument);
        else if (argument <= uint.MaxValue)
            BinaryPrimitives.WriteUInt32BigEndian(Begin((byte)(major | (CborMajor.ArgumentFollows + 2)), 4), (uint)argument);
        else
            BinaryPrimitives.WriteUInt64BigEndian(Begin((byte)(major | (CborMajor.ArgumentFollows + 3)), 8), argument);
    }

    private void SingleBits(uint bits)
    {
        if (CborFloat.TryNarrow(bits, out ushort narrow)) BinaryPrimitives.WriteUInt16BigEndian(Begin(CborMajor.Half, 2), narrow);
        else BinaryPrimitives.WriteUInt32BigEndian(Begin(CborMajor.Single, 4), bits);
    }

    /// <summary>Writes an item's first byte and makes room for what follows it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Span<byte> Begin(byte first, int following)
    {
        Span<byte> to = _target.Reserve(1 + following);
        to[0] = first;
        _target.Advance(1 + following);
        return to[1..];
    }
}
