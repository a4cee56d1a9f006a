using System.Buffers.Binary;
using Ambrosia.Protocol.Cbor;

namespace Ambrosia.Protocol;

/// <summary>This part reads numbers of every width, floats, and the values of contract C3 that consist of several items.</summary>
public ref partial struct CborReader
{
    private const int OffsetMinutesMax = 14 * 60;

    public int ReadInt32() => (int)InRange(int.MinValue, int.MaxValue);

    public uint ReadUInt32() => (uint)InRange(uint.MinValue, uint.MaxValue);

    public short ReadInt16() => (short)InRange(short.MinValue, short.MaxValue);

    public ushort ReadUInt16() => (ushort)InRange(ushort.MinValue, ushort.MaxValue);

    public sbyte ReadSByte() => (sbyte)InRange(sbyte.MinValue, sbyte.MaxValue);

    public byte ReadByte() => (byte)InRange(byte.MinValue, byte.MaxValue);

    public char ReadChar() => (char)InRange(char.MinValue, char.MaxValue);

    /// <summary>Reads a float of any width.</summary>
    public double ReadDouble() => BitConverter.UInt64BitsToDouble(FloatBits());

    /// <summary>Reads a float that 32 bits hold exactly.</summary>
    public float ReadSingle()
    {
        int at = _at;
        return CborFloat.TryNarrow(FloatBits(), out uint bits)
            ? BitConverter.UInt32BitsToSingle(bits)
            : throw OutOfRange(at, "float that 32 bits do not hold");
    }

    /// <summary>Reads a UUID, which is tag 37 and 16 bytes.</summary>
    public Guid ReadGuid()
    {
        int at = _at;
        ulong tag = ReadTag();
        if (tag != CborMajor.UuidTag) throw new CborException(CborError.WrongType, at, $"tag {tag} where a UUID is expected");
        ReadOnlySpan<byte> bytes = ReadBytes();
        return bytes.Length == 16 ? new Guid(bytes, bigEndian: true) : throw OutOfRange(at, $"UUID of {bytes.Length} bytes");
    }

    /// <summary>Reads a decimal, which is four 32-bit integers.</summary>
    public decimal ReadDecimal()
    {
        const int SignBit = int.MinValue, ScaleShift = 16, ScaleMax = 28;
        int at = _at;
        ReadTuple(4, "a decimal");
        Span<int> parts = [ReadInt32(), ReadInt32(), ReadInt32(), ReadInt32()];
        int scale = (parts[3] & ~SignBit) >> ScaleShift;
        if ((parts[3] & ~SignBit) != scale << ScaleShift || scale > ScaleMax)
            throw OutOfRange(at, $"decimal with sign and scale 0x{parts[3]:X8}");
        return new decimal(parts);
    }

    /// <summary>Reads ticks and kind.</summary>
    public DateTime ReadDateTime()
    {
        int at = _at;
        ReadTuple(2, "a date and time");
        long ticks = ReadInt64(), kind = ReadInt64();
        if (!AreTicks(ticks) || kind is < 0 or > (long)DateTimeKind.Local) throw OutOfRange(at, $"{ticks} ticks of kind {kind}");
        return new DateTime(ticks, (DateTimeKind)kind);
    }

    /// <summary>Reads ticks of the local clock and the offset in minutes.</summary>
    public DateTimeOffset ReadDateTimeOffset()
    {
        int at = _at;
        ReadTuple(2, "a date, time and offset");
        long ticks = ReadInt64(), minutes = ReadInt64();
        if (!AreTicks(ticks) || minutes is < -OffsetMinutesMax or > OffsetMinutesMax
            || !AreTicks(ticks - minutes * TimeSpan.TicksPerMinute))
            throw OutOfRange(at, $"{ticks} ticks with an offset of {minutes} minutes");
        return new DateTimeOffset(ticks, TimeSpan.FromMinutes(minutes));
    }

    public TimeSpan ReadTimeSpan() => new(ReadInt64());

    /// <summary>Reads a date as days since 1 January of year 1.</summary>
    public DateOnly ReadDateOnly() => DateOnly.FromDayNumber((int)InRange(0, DateOnly.MaxValue.DayNumber));

    /// <summary>Reads a time of day as ticks since midnight.</summary>
    public TimeOnly ReadTimeOnly() => new(InRange(0, TimeOnly.MaxValue.Ticks));

    private static bool AreTicks(long ticks) => ticks >= DateTime.MinValue.Ticks && ticks <= DateTime.MaxValue.Ticks;

    private void ReadTuple(int items, string what)
    {
        int at = _at;
        int count = ReadArrayHeader();
        if (count != items) throw OutOfRange(at, $"array of {count} items where {what} has {items}");
    }

    private long InRange(long min, long max)
    {
        int at = _at;
        long value = ReadInt64();
        return value >= min && value <= max ? value : throw OutOfRange(at, $"{value} where {min} to {max} are allowed");
    }

    /// <summary>Reads the next float and returns its bits, widened to 64.</summary>
    private ulong FloatBits()
    {
        byte first = FirstByte();
        if (first is < CborMajor.Half or > CborMajor.Double) throw WrongType("a float");
        int size = 2 << (first - CborMajor.Half);
        if (_bytes.Length - _at - 1 < size) throw Truncated(1 + size);
        ReadOnlySpan<byte> from = _bytes.Slice(_at + 1, size);
        (ulong bits, bool isShortest) = first switch
        {
            CborMajor.Half => (CborFloat.Widen(CborFloat.Widen(BinaryPrimitives.ReadUInt16BigEndian(from))), true),
            CborMajor.Single => WidenSingle(BinaryPrimitives.ReadUInt32BigEndian(from)),
            _ => CheckDouble(BinaryPrimitives.ReadUInt64BigEndian(from)),
        };
        if (!isShortest && !_isLenient) throw NotDeterministic(_at, $"float in {size} bytes that fits fewer");
        _at += 1 + size;
        return bits;

        static (ulong, bool) WidenSingle(uint single) => (CborFloat.Widen(single), !CborFloat.TryNarrow(single, out ushort _));
        static (ulong, bool) CheckDouble(ulong bits) => (bits, !CborFloat.TryNarrow(bits, out uint _));
    }
}
