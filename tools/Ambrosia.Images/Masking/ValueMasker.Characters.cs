using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Masking;

/// <summary>
/// This part masks characters that stand one by one: they are a text like any other, which is learnt, found and counted. Numbers in a row
/// may be the codes of one; they are counted as numbers are.
/// </summary>
internal sealed partial class ValueMasker
{
    /// <summary>Masks characters, or the codes of some, that are items of an array.</summary>
    /// <param name="parts">Where they stand; one that is no character's code stands for none.</param>
    internal void Characters(PlaceName at, Span<byte> array, List<Range> parts, bool areCodes = false)
    {
        if (parts.Count == 0 || (areCodes && (IsLearning || SparesNumbers || at.IsMasked))) return;
        ushort[] units = new ushort[parts.Count], before;
        for (int i = 0; i < units.Length; i++)
        {
            var from = new CborReader(array[parts[i]]);
            if (from.PeekKind() == CborKind.Unsigned && from.ReadUInt64() is <= char.MaxValue and { } code) units[i] = (ushort)code;
        }
        before = [.. units];
        Units(at, units, areCodes);
        for (int i = 0; i < units.Length; i++)
            if (units[i] != before[i])
                Overwrite(array[parts[i]], HeadBytes(units[i]) == HeadBytes(before[i]) ? units[i] : numbers.Char(before[i]));
    }

    /// <summary>Masks packed characters, or packed numbers that may be the codes of some.</summary>
    /// <param name="bytes">The width of each.</param>
    internal void Characters(PlaceName at, Span<byte> content, int bytes, bool areCodes)
    {
        if (areCodes && IsLearning) return;
        ushort[] units = new ushort[content.Length / bytes], before;
        for (int i = 0; i < units.Length; i++)
            if (Read(content.Slice(i * bytes, bytes)) is <= char.MaxValue and { } code) units[i] = (ushort)code;
        before = [.. units];
        Units(at, units, areCodes);
        for (int i = 0; i < units.Length; i++)
            if (units[i] != before[i]) Write(content.Slice(i * bytes, bytes), units[i]);
    }

    private void Units(PlaceName at, Span<ushort> units, bool areCodes)
    {
        if (units.IsEmpty) return;
        if (IsLearning)
        {
            if (at.IsMasked && !areCodes) texts.Learn(TextForms.BytesOf(units), isText: true);
            return;
        }
        bool isReplaced = _forms.Units(units);
        if (IsQuiet) return;
        if (!at.IsMasked && texts.HoldsTurned(TextForms.BytesOf(units))) at.Turned++;
        if (!areCodes) Count(at, isReplaced);
        else if (isReplaced) at.Replaced++;
    }
}
