using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Ambrosia.Images.Masking;

/// <summary>This part masks numbers and dates of fixed width, as packed elements have them (docs/image.md I3.6).</summary>
internal sealed partial class ValueMasker
{
    private const int KindShift = 62;

    /// <summary>Masks one element, or a part of one.</summary>
    /// <param name="content">Exactly its bytes.</param>
    internal void Packed(PlaceName at, string slot, Span<byte> content, Int128[]? members = null)
    {
        if (slot == "g") PackedGuid(at, content);
        else if (MayMask(at))
        {
            Overwrite(slot, content, members);
            IsCounted(at, true);
        }
    }

    private void Overwrite(string slot, Span<byte> content, Int128[]? members)
    {
        switch (slot)
        {
            case "b": content[0] ^= numbers.Flip; break;
            case "i16" or "u16":
                BinaryPrimitives.WriteInt128LittleEndian(content, numbers.Wide(BinaryPrimitives.ReadInt128LittleEndian(content)));
                break;
            case "d": PackedDecimal(content); break;
            case "td":
                ulong bits = Read(content);
                ulong ticks = bits & ((1UL << KindShift) - 1);
                Write(content, bits ^ ticks ^ numbers.Ticks(ticks));
                break;
            case "u1" or "u2" or "u4" or "u8" or "c" or "f2" or "f4" or "f8" or "dd" or "dt":
                ulong value = Read(content);
                Write(content, members is not null ? Member(members, isPositive: true, value) : OfSlot(slot, value));
                break;
            default:
                long number = Signed(content);
                ulong head = (ulong)(number < 0 ? ~number : number);
                head = members is not null ? Member(members, number >= 0, head) : numbers.Number(head);
                Write(content, (ulong)(number < 0 ? ~(long)head : (long)head));
                break;
        }
    }

    /// <summary>A UUID is compared with those in messages, whose first fields stand the other way round.</summary>
    private void PackedGuid(PlaceName at, Span<byte> content)
    {
        Span<byte> bytes = stackalloc byte[GuidBytes];
        new Guid(content).TryWriteBytes(bytes, bigEndian: true, out _);
        if (Bytes(at, bytes)) new Guid(bytes, bigEndian: true).TryWriteBytes(content);
    }

    private void PackedDecimal(Span<byte> content)
    {
        Span<int> parts = MemoryMarshal.Cast<byte, int>(content); // sign and scale, high, low, middle
        Span<int> words = [parts[2], parts[3], parts[1]];
        numbers.Decimal(words);
        (parts[2], parts[3], parts[1]) = (words[0], words[1], words[2]);
    }

    private static long Signed(ReadOnlySpan<byte> content)
    {
        int unused = 64 - 8 * content.Length;
        return (long)(Read(content) << unused) >> unused;
    }

    private static ulong Read(ReadOnlySpan<byte> content)
    {
        ulong value = 0;
        for (int i = content.Length - 1; i >= 0; i--) value = value << 8 | content[i];
        return value;
    }

    private static void Write(Span<byte> content, ulong value)
    {
        for (int i = 0; i < content.Length; i++, value >>= 8) content[i] = (byte)value;
    }
}
