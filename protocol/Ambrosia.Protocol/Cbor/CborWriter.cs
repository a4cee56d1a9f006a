using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text.Unicode;
using Ambrosia.Protocol.Cbor;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol;

/// <summary>
/// Writes CBOR items in their deterministic encoding (RFC 8949 §4.2.1, protocol P4): shortest heads, definite lengths, shortest floats.
/// Nothing is allocated here; over a growable buffer end with <see cref="Flush"/>. Pass it by reference.
/// The writer does not count items. The caller must write as many items as a container's header says, and the keys of a map in bytewise
/// order of their encoding.
/// </summary>
public ref struct CborWriter
{
    /// <summary>The UTF-8 of a text above which it is written in stretches, of this size or what room there is.</summary>
    private const int StretchBytes = 64 << 10;

    private ByteTarget _target;
    private int _depth;

    /// <summary>Creates a writer into a span that has room for everything that will be written.</summary>
    public CborWriter(Span<byte> to) => _target = new ByteTarget(to);

    /// <summary>Creates a writer into a growable buffer, which is asked for room only when its last piece is full.</summary>
    public CborWriter(IBufferWriter<byte> to) => _target = new ByteTarget(to);

    /// <summary>Creates a writer of a piece of what another writes, which is nested so deep already.</summary>
    internal CborWriter(IBufferWriter<byte> to, int depth)
    {
        _target = new ByteTarget(to);
        _depth = depth;
    }

    /// <summary>The number of levels that were entered and not left.</summary>
    internal readonly int Depth => _depth;

    /// <summary>The number of bytes written so far.</summary>
    public readonly long Written => _target.Written;

    /// <summary>Hands what was written to the growable buffer.</summary>
    public void Flush() => _target.Flush();

    public void WriteUInt64(ulong value) => Head(CborMajor.Unsigned, value);

    public void WriteInt64(long value)
    {
        if (value >= 0) Head(CborMajor.Unsigned, (ulong)value);
        else Head(CborMajor.Negative, (ulong)~value);
    }

    /// <summary>Writes the number −1 − <paramref name="offset"/>, for negative numbers down to −2⁶⁴.</summary>
    public void WriteNegative(ulong offset) => Head(CborMajor.Negative, offset);

    public void WriteBoolean(bool value) => _target.Put(value ? CborMajor.True : CborMajor.False);

    public void WriteNull() => _target.Put(CborMajor.Null);

    public void WriteUndefined() => _target.Put(CborMajor.Undefined);

    /// <summary>Writes a simple value of 0–19 or 32–255. The others have methods of their own or no meaning.</summary>
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

    /// <summary>Begins a byte string whose content the caller writes behind it, in as many pieces as it likes.</summary>
    public void WriteBytesHeader(ulong length) => Head(CborMajor.Bytes, length);

    /// <summary>Writes a text as UTF-8.</summary>
    /// <exception cref="ArgumentException">The text has lone surrogates, which UTF-8 cannot encode.</exception>
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
        if (size > StretchBytes) PutText(value, size);
        else _target.Advance(PayloadWriter.StrictUtf8.GetBytes(value, _target.Reserve(size)));
    }

    /// <summary>Writes a long text, known to be valid, in stretches: a growable buffer need not have room for all of it.</summary>
    private void PutText(scoped ReadOnlySpan<char> value, int size)
    {
        while (size > 0)
        {
            Span<byte> room = _target.Reserve(Math.Min(size, StretchBytes));
            _ = Utf8.FromUtf16(value, room, out int read, out int written, replaceInvalidSequences: false);
            _target.Advance(written);
            value = value[read..];
            size -= written;
        }
    }

    /// <summary>Writes a text that is UTF-8 already, like the names in generated code (<c>"name"u8</c>).</summary>
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

    /// <summary>Begins an array, whose <paramref name="count"/> items follow.</summary>
    public void WriteArrayHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        Head(CborMajor.Array, (ulong)count);
    }

    /// <summary>Begins a map, whose <paramref name="count"/> keys follow, each with its value.</summary>
    public void WriteMapHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        Head(CborMajor.Map, (ulong)count);
    }

    /// <summary>Writes the tag of the next item.</summary>
    public void WriteTag(ulong tag) => Head(CborMajor.Tag, tag);

    /// <summary>Writes a UUID as tag 37 and 16 bytes, big-endian.</summary>
    public void WriteGuid(Guid value)
    {
        WriteTag(CborMajor.UuidTag);
        Head(CborMajor.Bytes, 16);
        value.TryWriteBytes(_target.Reserve(16), bigEndian: true, out int size);
        _target.Advance(size);
    }

    /// <summary>Writes a decimal as four 32-bit integers: low, middle and high part of the number, then sign and scale.</summary>
    public void WriteDecimal(decimal value)
    {
        Span<int> parts = stackalloc int[4];
        decimal.GetBits(value, parts);
        WriteArrayHeader(parts.Length);
        foreach (int part in parts) WriteInt64(part);
    }

    /// <summary>Writes ticks of 100 ns since year 1, and the kind.</summary>
    public void WriteDateTime(DateTime value)
    {
        WriteArrayHeader(2);
        WriteInt64(value.Ticks);
        WriteInt64((int)value.Kind);
    }

    /// <summary>Writes ticks of 100 ns of the local clock, and the offset in minutes.</summary>
    public void WriteDateTimeOffset(DateTimeOffset value)
    {
        WriteArrayHeader(2);
        WriteInt64(value.Ticks);
        WriteInt64(value.TotalOffsetMinutes);
    }

    /// <summary>Writes ticks of 100 ns.</summary>
    public void WriteTimeSpan(TimeSpan value) => WriteInt64(value.Ticks);

    /// <summary>Writes a date as days since 1 January of year 1.</summary>
    public void WriteDateOnly(DateOnly value) => WriteInt64(value.DayNumber);

    /// <summary>Writes a time of day as ticks of 100 ns since midnight.</summary>
    public void WriteTimeOnly(TimeOnly value) => WriteInt64(value.Ticks);

    /// <summary>Writes the UTF-16 code unit as a number.</summary>
    public void WriteChar(char value) => WriteUInt64(value);

    /// <summary>Writes items that are encoded already.</summary>
    public void WriteEncoded(scoped ReadOnlySpan<byte> items) => _target.Put(items);

    /// <summary>
    /// Counts one level more. It is called before the inside of a type that may contain itself, so that what is deeper than a reader
    /// accepts fails where it is written.
    /// </summary>
    /// <exception cref="InvalidOperationException">Nested deeper than <see cref="CborReader.DepthMax"/>.</exception>
    public void EnterNested()
    {
        if (_depth == CborReader.DepthMax)
            throw new NestedTooDeepException();
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

/// <summary>Says that a value which is written is nested deeper than any reader takes. It keeps no words of its own.</summary>
internal sealed class NestedTooDeepException : InvalidOperationException
{
    public override string Message => $"a value is nested deeper than {CborReader.DepthMax}; does it contain itself?";
}
