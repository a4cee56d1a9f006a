using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text.Unicode;
using Ambrosia.Protocol.Cbor;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Protocol;

/// <summary>
/// Reads CBOR items one behind another from a span (RFC 8949, protocol P4). Pass it by reference. It checks every length and count against
/// the bytes that are there before it uses it, so what a caller allocates by a count is bounded by the message. A strict reader (the
/// default) refuses what a deterministic encoder never writes; a lenient one accepts long heads, wide floats, any order of map keys and
/// indefinite lengths. The reader does not count items; <see cref="Skip"/> walks a whole one and, in strict mode, checks the order of keys
/// too.
/// </summary>
public ref partial struct CborReader
{
    /// <summary>Containers and tags are nested at most this deep.</summary>
    public const int DepthMax = 64;

    /// <summary>In lenient mode this is the count of a container that ends with a break.</summary>
    public const int IndefiniteLength = -1;

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly bool _isLenient;
    private int _at;
    private int _depth;

    public CborReader(ReadOnlySpan<byte> bytes, bool lenient = false)
    {
        _bytes = bytes;
        _isLenient = lenient;
    }

    /// <summary>True when no items are left.</summary>
    public readonly bool AtEnd => _at == _bytes.Length;

    /// <summary>The number of bytes read so far.</summary>
    public readonly int Position => _at;

    /// <summary>The bytes that have not been read.</summary>
    public readonly ReadOnlySpan<byte> Remaining => _bytes[_at..];

    /// <summary>Returns the kind of the next item, which its first byte alone tells.</summary>
    public readonly CborKind PeekKind()
    {
        if (AtEnd) return CborKind.None;
        byte first = _bytes[_at];
        return (first & CborMajor.Mask) switch
        {
            CborMajor.Unsigned => CborKind.Unsigned,
            CborMajor.Negative => CborKind.Negative,
            CborMajor.Bytes => CborKind.Bytes,
            CborMajor.Text => CborKind.Text,
            CborMajor.Array => CborKind.Array,
            CborMajor.Map => CborKind.Map,
            CborMajor.Tag => CborKind.Tag,
            _ => OtherKind(first),
        };
    }

    public ulong ReadUInt64() => Argument(CborMajor.Unsigned);

    public long ReadInt64()
    {
        if (_at < _bytes.Length && (_bytes[_at] & CborMajor.Mask) == CborMajor.Negative)
        {
            int at = _at;
            ulong offset = Argument(CborMajor.Negative);
            return offset <= long.MaxValue ? ~(long)offset : throw OutOfRange(at, "number below the range of 64 bits");
        }
        int start = _at;
        ulong value = Argument(CborMajor.Unsigned);
        return value <= long.MaxValue ? (long)value : throw OutOfRange(start, "number above the range of 64 signed bits");
    }

    /// <summary>Reads a negative number n and returns −1 − n, for the numbers that no signed type holds.</summary>
    public ulong ReadNegative() => Argument(CborMajor.Negative);

    public bool ReadBoolean() => FirstByte() switch
    {
        CborMajor.True => Pass(true),
        CborMajor.False => Pass(false),
        _ => throw WrongType("a boolean"),
    };

    public void ReadNull()
    {
        if (!TryReadNull()) throw WrongType("null");
    }

    /// <summary>Reads null if that is next, and nothing otherwise.</summary>
    public bool TryReadNull() => FirstByte() == CborMajor.Null && Pass(true);

    /// <summary>Reads a simple value without a meaning of its own.</summary>
    public byte ReadSimple()
    {
        byte first = FirstByte();
        if (first is >= CborMajor.Other and < CborMajor.False) { _at++; return (byte)(first - CborMajor.Other); }
        if (first is > CborMajor.Double and < CborMajor.Break) throw Malformed(_at, $"first byte 0x{first:X2}");
        if (first != CborMajor.SimpleFollows) throw WrongType("a simple value");
        if (_bytes.Length - _at < 2) throw Truncated(2);
        byte value = _bytes[_at + 1];
        if (value < 32) throw Malformed(_at, $"simple value {value} in two bytes");
        _at += 2;
        return value;
    }

    public void ReadUndefined()
    {
        if (FirstByte() != CborMajor.Undefined) throw WrongType("undefined");
        _at++;
    }

    /// <summary>Reads a byte string as a view on the bytes. One in pieces (lenient) is put together.</summary>
    public ReadOnlySpan<byte> ReadBytes() =>
        IsIndefinite(CborMajor.Bytes) ? ReadPieces(CborMajor.Bytes) : Taken(CborMajor.Bytes);

    /// <summary>
    /// Reads the length of a byte string, of which the content follows: for one that may be longer than the bytes that this reader has.
    /// Whoever calls it checks the length, and reads on behind the content with another reader.
    /// </summary>
    public ulong ReadBytesHeader() => Argument(CborMajor.Bytes);

    /// <summary>Reads and checks a text and returns its UTF-8 as a view on the bytes. One in pieces (lenient) is put together.</summary>
    public ReadOnlySpan<byte> ReadUtf8() =>
        IsIndefinite(CborMajor.Text) ? ReadPieces(CborMajor.Text) : TakenText();

    public string ReadString() => PayloadWriter.StrictUtf8.GetString(ReadUtf8());

    /// <summary>
    /// Reads the number of items that follow, which is never more than bytes are left. It is <see cref="IndefiniteLength"/> in lenient mode
    /// only.
    /// </summary>
    public int ReadArrayHeader() => IsIndefinite(CborMajor.Array) ? PassIndefinite() : Count(CborMajor.Array, itemsEach: 1);

    /// <summary>Reads the number of pairs that follow. It is <see cref="IndefiniteLength"/> in lenient mode only.</summary>
    public int ReadMapHeader() => IsIndefinite(CborMajor.Map) ? PassIndefinite() : Count(CborMajor.Map, itemsEach: 2);

    /// <summary>Reads the break that ends a container of indefinite length, if that is next.</summary>
    public bool TryReadBreak() => _isLenient && FirstByte() == CborMajor.Break && Pass(true);

    /// <summary>Reads the tag of the item that follows.</summary>
    public ulong ReadTag() => Argument(CborMajor.Tag);

    /// <summary>
    /// Counts one level more. It is called before the inside of a type that may contain itself, so that hostile input cannot exhaust the
    /// stack.
    /// </summary>
    /// <exception cref="CborException">The item is nested too deep.</exception>
    public void EnterNested()
    {
        if (_depth == DepthMax) throw TooDeep(_at);
        _depth++;
    }

    public void LeaveNested() => _depth--;

    /// <summary>Reads the head of the next item, which must be of this major type, and returns its argument.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong Argument(byte major)
    {
        if (_at < _bytes.Length)
        {
            int info = _bytes[_at] - major;
            if ((uint)info < CborMajor.ArgumentFollows) { _at++; return (ulong)info; }
        }
        return LongArgument(major);
    }

    private ulong LongArgument(byte major)
    {
        byte first = FirstByte();
        if ((first & CborMajor.Mask) != major) throw WrongType(NameOf(major));
        int info = first & ~CborMajor.Mask;
        if (info > CborMajor.ArgumentFollows + 3) throw BadInfo(first);
        int size = 1 << (info - CborMajor.ArgumentFollows);
        if (_bytes.Length - _at - 1 < size) throw Truncated(1 + size);
        ReadOnlySpan<byte> from = _bytes.Slice(_at + 1, size);
        (ulong value, ulong shorterMax) = size switch
        {
            1 => ((ulong)from[0], CborMajor.ArgumentFollows - 1ul),
            2 => (BinaryPrimitives.ReadUInt16BigEndian(from), byte.MaxValue),
            4 => (BinaryPrimitives.ReadUInt32BigEndian(from), ushort.MaxValue),
            _ => (BinaryPrimitives.ReadUInt64BigEndian(from), uint.MaxValue),
        };
        if (value <= shorterMax && !_isLenient) throw NotDeterministic(_at, $"head of {size + 1} bytes for {value}");
        _at += 1 + size;
        return value;
    }

    private int Count(byte major, int itemsEach)
    {
        int at = _at;
        ulong count = Argument(major);
        if (count > (ulong)((_bytes.Length - _at) / itemsEach))
            throw new CborException(CborError.Truncated, at, $"{count} items in {_bytes.Length - _at} bytes");
        return (int)count;
    }

    private ReadOnlySpan<byte> Taken(byte major)
    {
        int at = _at;
        ulong length = Argument(major);
        if (length > (ulong)(_bytes.Length - _at))
            throw new CborException(CborError.Truncated, at, $"string of {length} bytes in {_bytes.Length - _at}");
        ReadOnlySpan<byte> taken = _bytes.Slice(_at, (int)length);
        _at += taken.Length;
        return taken;
    }

    private ReadOnlySpan<byte> TakenText()
    {
        int at = _at;
        ReadOnlySpan<byte> text = Taken(CborMajor.Text);
        return Utf8.IsValid(text) ? text : throw Malformed(at, "text that is not UTF-8");
    }

    private readonly byte FirstByte() => _at < _bytes.Length ? _bytes[_at] : throw Truncated(1);

    private T Pass<T>(T value)
    {
        _at++;
        return value;
    }
}

/// <summary>Says what the next item is, as far as its first byte tells.</summary>
public enum CborKind : byte
{
    /// <summary>There is no next item.</summary>
    None,
    Unsigned, Negative, Bytes, Text, Array, Map, Tag, Boolean, Null, Undefined, Simple, Float,

    /// <summary>A container of indefinite length ends here; it occurs in lenient mode only.</summary>
    Break,
}
