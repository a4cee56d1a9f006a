using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Masks values where they stand, each by the name of its place: first it learns all that rules name, then it overwrites them, and keeps
/// what is left. A value has as many bytes afterwards as before. One thread.
/// </summary>
internal sealed partial class ValueMasker(MaskRules rules, MaskedTexts texts, MaskedNumbers numbers)
{
    private const int GuidBytes = 16;

    private readonly TextForms _forms = new(texts);

    internal MaskRules Rules => rules;

    internal MaskedTexts Texts => texts;

    /// <summary>Values are learnt, and stay what they are.</summary>
    internal bool IsLearning { get; set; } = true;

    /// <summary>Nothing is counted: it is about a copy.</summary>
    internal bool IsQuiet { get; set; }

    /// <summary>Only texts and bytes are masked.</summary>
    internal bool SparesNumbers { get; set; }

    /// <summary>Masks the content of a text.</summary>
    /// <returns>True: it is another now.</returns>
    internal bool Text(PlaceName at, Span<byte> content) => Content(at, content, isText: true);

    internal bool Bytes(PlaceName at, Span<byte> content) => Content(at, content, isText: false);

    private bool Content(PlaceName at, Span<byte> content, bool isText)
    {
        if (IsLearning)
        {
            if (!at.IsMasked) return false;
            texts.Learn(content, isText);
            if (!isText && TextForms.TextOfWide(content) is { } text) texts.Learn(text, isText: true);
            return false;
        }
        bool isReplaced = false;
        if (!at.IsMasked) isReplaced = texts.Replace(content, isText) | _forms.Encoded(content) | (!isText && _forms.Wide(content));
        else if (isText || TextForms.TextOfWide(content) is null || !_forms.Wide(content)) texts.Mask(content);
        if (IsQuiet || content.IsEmpty) return at.IsMasked || isReplaced;
        if (!at.IsMasked && texts.HoldsTurned(content)) at.Turned++;
        return Count(at, isReplaced);
    }

    private static bool Count(PlaceName at, bool isReplaced)
    {
        if (at.IsMasked) at.Masked++;
        else if (isReplaced) at.Replaced++;
        else at.Left++;
        return at.IsMasked || isReplaced;
    }

    /// <summary>
    /// Masks the item of a number, text or date of a slot of images (docs/image.md I3.5), or of a float as messages have it.
    /// </summary>
    /// <param name="item">One whole item.</param>
    /// <param name="members">Of an enum its numbers, in ascending order; null: it is none.</param>
    /// <returns>False: the item is of another form, and as it was.</returns>
    internal bool TryItem(PlaceName at, string slot, Span<byte> item, Int128[]? members = null)
    {
        CborKind kind = new CborReader(item).PeekKind();
        if (kind == CborKind.Null) return true;
        switch (slot)
        {
            case "s": return TryText(at, item, kind);
            case "g": return TryGuid(at, item, kind);
            case "i16" or "u16": return TryWide(at, item, kind);
            case "d" or "td" or "to": return TryTuple(at, slot, item, kind);
            case MessageFloat: return kind == CborKind.Float && IsCounted(at, MaskFloat(item, at));
            case "b": return kind == CborKind.Boolean && IsCounted(at, MaskBoolean(item, at));
        }
        if (kind is not (CborKind.Unsigned or CborKind.Negative)) return false;
        if (!MayMask(at)) return true;
        var from = new CborReader(item);
        ulong value = kind == CborKind.Unsigned ? from.ReadUInt64() : from.ReadNegative();
        Overwrite(item, members is not null ? Member(members, kind == CborKind.Unsigned, value) : OfSlot(slot, value));
        return IsCounted(at, true);
    }

    /// <summary>The slot of a float of the shortest of three widths, as it stands in messages.</summary>
    internal const string MessageFloat = "f";

    /// <summary>Returns what stands for the argument of a number's head.</summary>
    private ulong OfSlot(string slot, ulong value) => slot switch
    {
        "c" => numbers.Char((ushort)value),
        "dd" => numbers.Days(value),
        "dt" => numbers.TimeOfDay(value),
        "f2" => Narrowed(numbers.Float(BitConverter.DoubleToUInt64Bits((double)BitConverter.UInt16BitsToHalf((ushort)value)))),
        "f4" => BitConverter.SingleToUInt32Bits((float)BitConverter.UInt64BitsToDouble(
            numbers.Float(BitConverter.DoubleToUInt64Bits(BitConverter.UInt32BitsToSingle((uint)value))))),
        "f8" => numbers.Float(value),
        _ => numbers.Number(value),
    };

    private static ushort Narrowed(ulong bits) => BitConverter.HalfToUInt16Bits((Half)BitConverter.UInt64BitsToDouble(bits));

    /// <summary>
    /// Returns the head of another member of an enum, of as many bytes and the same sign; where there is none, the same one.
    /// </summary>
    private ulong Member(Int128[] members, bool isPositive, ulong value)
    {
        int bytes = HeadBytes(value);
        var near = new List<ulong>();
        foreach (Int128 member in members)
        {
            if (Int128.IsNegative(member) == isPositive) continue;
            ulong head = (ulong)(isPositive ? member : ~member);
            if (HeadBytes(head) == bytes) near.Add(head);
        }
        near.Sort();
        if (near.BinarySearch(value) is >= 0 and { } place) return near[(int)numbers.Place((ulong)place, (ulong)near.Count - 1)];
        do value = numbers.Number(value);
        while (near.BinarySearch(value) >= 0); // it was no member, and becomes none
        return value;
    }

    private bool TryText(PlaceName at, Span<byte> item, CborKind kind)
    {
        if (kind == CborKind.Text)
        {
            Text(at, ContentOf(item));
            return true;
        }
        if (kind != CborKind.Array) return false;
        Characters(at, item, Parts(item, kind)); // UTF-8 cannot say it
        return true;
    }

    private bool TryGuid(PlaceName at, Span<byte> item, CborKind kind)
    {
        if (kind != CborKind.Tag || item.Length < GuidBytes) return false;
        Bytes(at, item[^GuidBytes..]);
        return true;
    }

    private bool TryWide(PlaceName at, Span<byte> item, CborKind kind)
    {
        if (kind != CborKind.Bytes || item.Length < GuidBytes) return false;
        if (!MayMask(at)) return true;
        Span<byte> number = item[^GuidBytes..];
        BinaryPrimitives.WriteInt128BigEndian(number, numbers.Wide(BinaryPrimitives.ReadInt128BigEndian(number)));
        return IsCounted(at, true);
    }

    private bool TryTuple(PlaceName at, string slot, Span<byte> item, CborKind kind)
    {
        if (kind != CborKind.Array) return false;
        if (!MayMask(at)) return true;
        var from = new CborReader(item);
        int count = from.ReadArrayHeader();
        if (count != (slot == "d" ? 4 : 2)) return false;
        Span<int> starts = stackalloc int[count], words = stackalloc int[count];
        for (int i = 0; i < count; i++)
        {
            starts[i] = from.Position;
            if (slot == "d") words[i] = from.ReadInt32();
            else from.Skip();
        }
        if (slot == "d")
        {
            numbers.Decimal(words);
            for (int i = 0; i < 3; i++) Overwrite(item[starts[i]..], (ulong)(words[i] < 0 ? ~words[i] : words[i]));
        }
        else if (new CborReader(item[starts[0]..]) is var ticks && ticks.PeekKind() == CborKind.Unsigned)
            Overwrite(item[starts[0]..],
                slot == "to" ? WithOffset(ticks.ReadUInt64(), item[starts[1]..]) : numbers.Ticks(ticks.ReadUInt64()));
        return IsCounted(at, true);
    }

    /// <summary>Masks the ticks of a local clock so that UTC stays within what there is.</summary>
    private ulong WithOffset(ulong ticks, ReadOnlySpan<byte> minutes)
    {
        var from = new CborReader(minutes);
        long offset = from.ReadInt64() * TimeSpan.TicksPerMinute;
        do ticks = numbers.Ticks(ticks);
        while ((long)ticks - offset is < 0 or > 3_155_378_975_999_999_999);
        return ticks;
    }

    private bool MaskFloat(Span<byte> item, PlaceName at)
    {
        if (!MayMask(at)) return false;
        var from = new CborReader(item);
        ulong bits = numbers.Float(BitConverter.DoubleToUInt64Bits(from.ReadDouble()));
        double value = BitConverter.UInt64BitsToDouble(bits);
        if (item.Length == 1 + sizeof(ushort)) BinaryPrimitives.WriteHalfBigEndian(item[1..], (Half)value);
        else if (item.Length == 1 + sizeof(float)) BinaryPrimitives.WriteSingleBigEndian(item[1..], (float)value);
        else BinaryPrimitives.WriteUInt64BigEndian(item[1..], bits);
        return true;
    }

    private bool MaskBoolean(Span<byte> item, PlaceName at)
    {
        if (!MayMask(at)) return false;
        item[0] ^= numbers.Flip;
        return true;
    }

    /// <summary>The value is to be overwritten now.</summary>
    private bool MayMask(PlaceName at) => at.IsMasked && !IsLearning && !SparesNumbers;

    private bool IsCounted(PlaceName at, bool isMasked)
    {
        if (isMasked && !IsQuiet) at.Masked++;
        return true;
    }

    /// <summary>Writes another number into a head of the same length.</summary>
    private static void Overwrite(Span<byte> item, ulong value)
    {
        const int InfoMask = 0x1F, OneByte = 24;
        int bytes = HeadBytes(value);
        int info = item[0] & InfoMask;
        if (bytes != (info < OneByte ? 1 : 1 + (1 << (info - OneByte)))) throw new InvalidOperationException("a number of another length");
        if (bytes == 1) item[0] = (byte)(item[0] & ~InfoMask | (int)value);
        else
            for (int i = bytes - 1; i > 0; i--, value >>= 8) item[i] = (byte)value;
    }

    private static int HeadBytes(ulong value) => value switch
    {
        < 24 => 1,
        <= byte.MaxValue => 2,
        <= ushort.MaxValue => 3,
        <= uint.MaxValue => 5,
        _ => 9,
    };

    /// <summary>Returns the content of a text or byte string that is one whole item.</summary>
    internal static Span<byte> ContentOf(Span<byte> item)
    {
        const int InfoMask = 0x1F, OneByte = 24;
        int info = item[0] & InfoMask;
        return item[(info < OneByte ? 1 : 1 + (1 << (info - OneByte)))..];
    }
}
