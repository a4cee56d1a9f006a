using System.Globalization;

namespace Ambrosia.Images.Reading;

/// <summary>Says what stands in a place of an image; the forms are those of docs/image.md.</summary>
internal enum SlotForm
{
    Number, Reference, Row, Nullable, Opaque, Several, Enumerator, Packed, Never,
}

/// <summary>It is the description of a place: a field, or the elements of an array or collection.</summary>
/// <param name="Text">The slot as the image writes it: of a number, text or date it says which.</param>
/// <param name="RowNumber">The row of the type of a value in place.</param>
/// <param name="Inner">What may be null, stands several times, or is packed.</param>
internal sealed record Slot(SlotForm Form, string Text, int RowNumber = 0, Slot? Inner = null)
{
    private const string Numbers = " b i1 i2 i4 i8 i16 u1 u2 u4 u8 u16 f2 f4 f8 d s c g td to ts dd dt ";

    internal static Slot Parse(string text)
    {
        if (text.Length > 0 && FormOf(text[0]) is { } outer) return new Slot(outer, text, Inner: Parse(text[1..]));
        if (text.StartsWith('#') && int.TryParse(text.AsSpan(1), NumberStyles.None, CultureInfo.InvariantCulture, out int row))
            return new Slot(SlotForm.Row, text, row);
        return text switch
        {
            "@" => new Slot(SlotForm.Reference, text),
            "!" => new Slot(SlotForm.Opaque, text),
            "-" => new Slot(SlotForm.Never, text),
            _ when Numbers.Contains($" {text} ", StringComparison.Ordinal) => new Slot(SlotForm.Number, text),
            _ => throw new ImageException($"a place is described as '{text}', which is not known"),
        };
    }

    private static SlotForm? FormOf(char first) => first switch
    {
        '?' => SlotForm.Nullable,
        '*' => SlotForm.Several,
        '~' => SlotForm.Enumerator,
        '=' => SlotForm.Packed,
        _ => null,
    };
}
