using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia.State;

/// <summary>
/// The form of the elements of an array that stands in an image as one byte string (docs/image.md): each element is its numbers one behind
/// another, in a fixed width each, the lowest byte first. It is known of a type of this build, or of a row of an image; where the two are
/// not equal, an element is turned into the items as which it would stand elsewhere, and read by the names of its fields.
/// </summary>
/// <param name="Text">All that decides about the bytes: two forms with one text are equal.</param>
/// <param name="Bytes">The size of an element in bytes, always above 0.</param>
/// <param name="Numbers">The slots of the numbers in order; null stands in front of a struct, with the count of its fields.</param>
internal sealed record PackedForm(string Text, int Bytes, IReadOnlyList<PackedNumber> Numbers)
{
    private static readonly Dictionary<string, int> s_bytesOf = new()
    {
        ["b"] = 1, ["i1"] = 1, ["u1"] = 1, ["i2"] = 2, ["u2"] = 2, ["c"] = 2, ["f2"] = 2, ["i4"] = 4, ["u4"] = 4, ["f4"] = 4, ["dd"] = 4,
        ["i8"] = 8, ["u8"] = 8, ["f8"] = 8, ["ts"] = 8, ["dt"] = 8, ["td"] = 8, ["d"] = 16, ["g"] = 16, ["i16"] = 16, ["u16"] = 16,
    };

    /// <summary>Returns the form of elements of which an image says this; null where they are not such elements.</summary>
    internal static PackedForm? Of(string slot, ImageTypes types)
    {
        var text = new StringBuilder();
        var numbers = new List<PackedNumber>();
        return TryAdd(slot, types, text, numbers, depth: 0) && numbers.Sum(static each => each.Bytes) is > 0 and { } bytes
            ? new PackedForm(text.ToString(), bytes, numbers) : null;
    }

    /// <summary>Returns the size in bytes of a number in its packed form; 0 where a place of this slot is not a number.</summary>
    internal static int BytesOf(string slot) => s_bytesOf.GetValueOrDefault(slot);

    /// <summary>Writes one packed element as the items that it would be in another place.</summary>
    internal void Unpack(ReadOnlySpan<byte> element, ref CborWriter to)
    {
        foreach (PackedNumber number in Numbers)
        {
            if (number.Slot is null) to.WriteArrayHeader(number.Fields);
            else Unpack(number.Slot, element[..number.Bytes], ref to);
            element = element[number.Bytes..];
        }
    }

    private static bool TryAdd(string slot, ImageTypes types, StringBuilder text, List<PackedNumber> numbers, int depth)
    {
        const int DepthMax = 32;
        if (BytesOf(slot) is > 0 and { } bytes)
        {
            numbers.Add(new PackedNumber(slot, bytes, 0));
            text.Append(slot).Append(' ');
            return true;
        }
        if (depth > DepthMax || !slot.StartsWith('#') || !ulong.TryParse(slot.AsSpan(1), out ulong row)) return false;
        ImageType type = types[row];
        if (type.Kind == TypeKind.Enum && type.Members.Length == 1) return TryAdd(type.Members[0], types, text, numbers, depth + 1);
        if (type.Kind != TypeKind.Struct) return false;
        numbers.Add(new PackedNumber(null, 0, type.Members.Length / 2));
        text.Append('(');
        for (int i = 0; i + 1 < type.Members.Length; i += 2)
        {
            text.Append(type.Members[i]).Append(':');
            if (!TryAdd(type.Members[i + 1], types, text, numbers, depth + 1)) return false;
        }
        text.Append(')');
        return true;
    }

    private static void Unpack(string slot, ReadOnlySpan<byte> from, ref CborWriter to)
    {
        switch (slot)
        {
            case "b": to.WriteBoolean(from[0] != 0); break;
            case "i1": to.WriteInt64((sbyte)from[0]); break;
            case "i2": to.WriteInt64(BinaryPrimitives.ReadInt16LittleEndian(from)); break;
            case "i4" or "dd": to.WriteInt64(BinaryPrimitives.ReadInt32LittleEndian(from)); break;
            case "i8" or "ts" or "dt": to.WriteInt64(BinaryPrimitives.ReadInt64LittleEndian(from)); break;
            case "u1": to.WriteUInt64(from[0]); break;
            case "u2" or "c" or "f2": to.WriteUInt64(BinaryPrimitives.ReadUInt16LittleEndian(from)); break;
            case "u4" or "f4": to.WriteUInt64(BinaryPrimitives.ReadUInt32LittleEndian(from)); break;
            case "u8" or "f8": to.WriteUInt64(BinaryPrimitives.ReadUInt64LittleEndian(from)); break;
            case "td": to.WriteDateTime(MemoryMarshal.Read<DateTime>(from)); break;
            case "d": to.WriteDecimal(MemoryMarshal.Read<decimal>(from)); break;
            case "g": to.WriteGuid(new Guid(from)); break;
            default: WriteWide(from, ref to); break;
        }
    }

    private static void WriteWide(ReadOnlySpan<byte> from, ref CborWriter to)
    {
        Span<byte> highFirst = stackalloc byte[16];
        from.CopyTo(highFirst);
        highFirst.Reverse();
        to.WriteBytes(highFirst);
    }
}

/// <summary>It says of a packed element which number comes next, or that a struct begins.</summary>
/// <param name="Slot">The slot of the number; null: a struct of so many fields begins.</param>
internal readonly record struct PackedNumber(string? Slot, int Bytes, int Fields);
