using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Images;

namespace Ambrosia.State;

/// <summary>
/// The form of the elements of an array or collection that stand in an image as one byte string (docs/image.md): each element is its
/// numbers one behind another, in a fixed width each, the lowest byte first. It is known of a type of this build, or of a row of an image;
/// where the two are not equal, an element is turned into the items as which it would stand elsewhere, and read by the names of its fields.
/// </summary>
/// <param name="Text">All that decides about the bytes: two forms with one text are equal.</param>
/// <param name="Bytes">The size of an element in bytes, always above 0.</param>
/// <param name="Numbers">The slots of the numbers in order; null stands in front of a struct, with the count of its fields.</param>
internal sealed record PackedForm(string Text, int Bytes, IReadOnlyList<PackedNumber> Numbers)
{
    /// <summary>
    /// Returns the form of the elements of an array or collection in the image that is being read; null: they are not packed.
    /// </summary>
    /// <exception cref="InvalidDataException">The image says that they are, and they cannot be.</exception>
    internal static PackedForm? In(GraphReader graph, Type collection) => graph.Types.Of(collection)?.PackedIn(graph.Types);

    /// <summary>Returns the form of elements of which an image says this; null where they are not such elements.</summary>
    /// <param name="slots">The slot of the elements, or those of keys and values.</param>
    internal static PackedForm? Of(ReadOnlySpan<string> slots, ImageTypes types)
    {
        var text = new StringBuilder();
        var numbers = new List<PackedNumber>();
        bool isPair = slots.Length == 2;
        text.Append(isPair ? "(key:" : "");
        if (!TryAdd(slots[0], types, text, numbers, depth: 0)) return null;
        text.Append(isPair ? "value:" : "");
        if (isPair && !TryAdd(slots[1], types, text, numbers, depth: 0)) return null;
        text.Append(isPair ? ")" : "");
        return numbers.Sum(static each => each.Bytes) is > 0 and { } bytes ? new PackedForm(text.ToString(), bytes, numbers) : null;
    }

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
        if (PackedNumbers.BytesOf(slot) is > 0 and { } bytes)
        {
            numbers.Add(new PackedNumber(slot, bytes, 0));
            text.Append(slot).Append(' ');
            return true;
        }
        if (depth > DepthMax || !slot.StartsWith('#') || !ulong.TryParse(slot.AsSpan(1), out ulong row)) return false;
        ImageType type = types[row];
        if (type.Kind == TypeKind.Enum && type.Members.Length == 1)
        {
            if (type.Numbers is not null) text.Append("other "); // each is to be translated, so memory is not to be copied
            return TryAdd(type.Members[0], types, text, numbers, depth + 1);
        }
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
