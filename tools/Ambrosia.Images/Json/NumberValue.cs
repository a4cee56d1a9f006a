using System.Buffers.Binary;
using System.Globalization;
using System.Runtime.InteropServices;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Json;

/// <summary>
/// A number, text or date of an image, read by its slot: from an item, or from the bytes of a packed element. Exactly one of its forms is
/// set.
/// </summary>
internal readonly struct NumberValue
{
    private NumberValue(string slot) => Slot = slot;

    internal string Slot { get; private init; }

    internal string? Text { get; private init; }

    internal Int128 Integer { get; private init; }

    internal UInt128 Unsigned { get; private init; }

    internal double Float { get; private init; }

    internal decimal Decimal { get; private init; }

    internal static NumberValue Read(string slot, ref CborReader from) => slot switch
    {
        "b" => new(slot) { Integer = from.ReadBoolean() ? 1 : 0 },
        "u8" => new(slot) { Integer = from.ReadUInt64() },
        "i16" => new(slot) { Integer = (Int128)Wide(ref from) },
        "u16" => new(slot) { Unsigned = Wide(ref from) },
        "f2" => new(slot) { Float = (double)BitConverter.UInt16BitsToHalf(from.ReadUInt16()) },
        "f4" => new(slot) { Float = BitConverter.UInt32BitsToSingle(from.ReadUInt32()) },
        "f8" => new(slot) { Float = BitConverter.UInt64BitsToDouble(from.ReadUInt64()) },
        "d" => new(slot) { Decimal = from.ReadDecimal() },
        "s" => new(slot) { Text = ReadText(ref from) },
        "c" => new(slot) { Text = from.ReadChar().ToString() },
        "g" => new(slot) { Text = TextOf(from.ReadGuid()) },
        "td" => new(slot) { Text = TextOf(from.ReadDateTime()) },
        "to" => new(slot) { Text = from.ReadDateTimeOffset().ToString("O", CultureInfo.InvariantCulture) },
        "ts" => new(slot) { Text = TextOf(from.ReadTimeSpan()) },
        "dd" => new(slot) { Text = TextOf(from.ReadDateOnly()) },
        "dt" => new(slot) { Text = TextOf(from.ReadTimeOnly()) },
        _ => new(slot) { Integer = slot[0] == 'u' ? from.ReadUInt64() : from.ReadInt64() },
    };

    internal static NumberValue Unpack(string slot, ReadOnlySpan<byte> from) => slot switch
    {
        "b" or "u1" => new(slot) { Integer = from[0] },
        "i1" => new(slot) { Integer = (sbyte)from[0] },
        "i2" => new(slot) { Integer = BinaryPrimitives.ReadInt16LittleEndian(from) },
        "i4" => new(slot) { Integer = BinaryPrimitives.ReadInt32LittleEndian(from) },
        "i8" => new(slot) { Integer = BinaryPrimitives.ReadInt64LittleEndian(from) },
        "i16" => new(slot) { Integer = BinaryPrimitives.ReadInt128LittleEndian(from) },
        "u2" => new(slot) { Integer = BinaryPrimitives.ReadUInt16LittleEndian(from) },
        "u4" => new(slot) { Integer = BinaryPrimitives.ReadUInt32LittleEndian(from) },
        "u8" => new(slot) { Integer = BinaryPrimitives.ReadUInt64LittleEndian(from) },
        "u16" => new(slot) { Unsigned = BinaryPrimitives.ReadUInt128LittleEndian(from) },
        "f2" => new(slot) { Float = (double)BinaryPrimitives.ReadHalfLittleEndian(from) },
        "f4" => new(slot) { Float = BinaryPrimitives.ReadSingleLittleEndian(from) },
        "f8" => new(slot) { Float = BinaryPrimitives.ReadDoubleLittleEndian(from) },
        "d" => new(slot) { Decimal = DecimalOf(from) },
        "c" => new(slot) { Text = ((char)BinaryPrimitives.ReadUInt16LittleEndian(from)).ToString() },
        "g" => new(slot) { Text = TextOf(new Guid(from[..16])) },
        "td" => new(slot) { Text = TextOf(DateTimeOf(BinaryPrimitives.ReadUInt64LittleEndian(from))) },
        "ts" => new(slot) { Text = TextOf(new TimeSpan(BinaryPrimitives.ReadInt64LittleEndian(from))) },
        "dd" => new(slot) { Text = TextOf(DateOnly.FromDayNumber(BinaryPrimitives.ReadInt32LittleEndian(from))) },
        "dt" => new(slot) { Text = TextOf(new TimeOnly(BinaryPrimitives.ReadInt64LittleEndian(from))) },
        _ => throw new ImageException($"an array of '{slot}' is not packed"),
    };

    internal void WriteTo(JsonOutput to)
    {
        switch (Slot)
        {
            case "b": to.To.WriteBooleanValue(Integer != 0); break;
            case "u16": to.Integer(Unsigned); break;
            case "f2" or "f4" or "f8": to.Float(Float, Slot[1] - '0'); break;
            case "d": to.To.WriteNumberValue(Decimal); break;
            case "s" or "c" or "g" or "td" or "to" or "ts" or "dd" or "dt":
                if (Text is null) to.To.WriteNullValue();
                else to.Text(Text);
                break;
            default: to.Integer(Integer); break;
        }
    }

    /// <summary>Returns the value as the key of an entry of a map.</summary>
    internal string AsKey() => Slot switch
    {
        "b" => Integer != 0 ? "true" : "false",
        "u16" => Unsigned.ToString(CultureInfo.InvariantCulture),
        "f2" => ((Half)Float).ToString(CultureInfo.InvariantCulture),
        "f4" => ((float)Float).ToString(CultureInfo.InvariantCulture),
        "f8" => Float.ToString(CultureInfo.InvariantCulture),
        "d" => Decimal.ToString(CultureInfo.InvariantCulture),
        _ => Text is null ? Integer.ToString(CultureInfo.InvariantCulture) : JsonOutput.Key(Text),
    };

    private static string? ReadText(ref CborReader from)
    {
        if (from.TryReadNull()) return null;
        if (from.PeekKind() != CborKind.Array) return from.ReadString();
        var chars = new char[from.ReadArrayHeader()];
        for (int i = 0; i < chars.Length; i++) chars[i] = from.ReadChar();
        return new string(chars);
    }

    private static UInt128 Wide(ref CborReader from)
    {
        ReadOnlySpan<byte> bytes = from.ReadBytes();
        return bytes.Length == 16 ? BinaryPrimitives.ReadUInt128BigEndian(bytes) : throw new ImageException("a number of another width");
    }

    private static decimal DecimalOf(ReadOnlySpan<byte> from)
    {
        // As in memory: sign and scale, then the high, the low and the middle part.
        ReadOnlySpan<int> parts = MemoryMarshal.Cast<byte, int>(from);
        return new decimal([parts[2], parts[3], parts[1], parts[0]]);
    }

    private static DateTime DateTimeOf(ulong bits)
    {
        const int KindShift = 62;
        DateTimeKind kind = (bits >> KindShift) switch { 0 => DateTimeKind.Unspecified, 1 => DateTimeKind.Utc, _ => DateTimeKind.Local };
        return new DateTime((long)(bits & ((1UL << KindShift) - 1)), kind);
    }

    private static string TextOf(Guid value) => value.ToString();

    /// <summary>Returns ticks and kind: the offset of a local time depends on the machine, so it is no part of the text.</summary>
    private static string TextOf(DateTime value) =>
        value.ToString("yyyy-MM-ddTHH:mm:ss.fffffff", CultureInfo.InvariantCulture)
        + value.Kind switch { DateTimeKind.Utc => "Z", DateTimeKind.Local => " local", _ => "" };

    private static string TextOf(TimeSpan value) => value.ToString("c", CultureInfo.InvariantCulture);

    private static string TextOf(DateOnly value) => value.ToString("O", CultureInfo.InvariantCulture);

    private static string TextOf(TimeOnly value) => value.ToString("O", CultureInfo.InvariantCulture);
}
