using System.Globalization;
using Ambrosia.Images.Masking;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Masking;

/// <summary>
/// Masks values of messages, each by its type in the manifest and under the names that this gives its parts. A value that does not fit its
/// type, because another version of the app wrote it, is masked by its form. One thread.
/// </summary>
internal sealed class TypedMasking(ContractManifests contracts, ValueMasker masker)
{
    private static readonly Dictionary<string, string> s_slots = new()
    {
        ["bool"] = "b", ["int8"] = "i1", ["int16"] = "i2", ["int32"] = "i4", ["int64"] = "i8", ["uint8"] = "u1", ["uint16"] = "u2",
        ["uint32"] = "u4", ["uint64"] = "u8", ["float32"] = ValueMasker.MessageFloat, ["float64"] = ValueMasker.MessageFloat,
        ["decimal"] = "d", ["char"] = "c", ["text"] = "s", ["guid"] = "g", ["datetime"] = "td", ["datetimeoffset"] = "to",
        ["timespan"] = "ts", ["date"] = "dd", ["time"] = "dt",
    };

    private readonly Dictionary<string, Int128[]> _members = [];

    /// <summary>Masks one whole item.</summary>
    /// <param name="type">Null: nobody knows it.</param>
    /// <exception cref="CborException">It is malformed.</exception>
    public void Mask(Span<byte> item, SchemaType? type, PlaceName at)
    {
        CborKind kind = new CborReader(item).PeekKind();
        if (kind == CborKind.Null) return;
        if (type is null || !TryMask(item, kind, type, at)) masker.Item(at, item);
    }

    private bool TryMask(Span<byte> item, CborKind kind, SchemaType type, PlaceName at)
    {
        if (s_slots.TryGetValue(type.Name, out string? slot)) return masker.TryItem(at, slot, item);
        switch (type.Name)
        {
            case "bytes" when kind == CborKind.Bytes: masker.Bytes(at, ValueMasker.ContentOf(item)); return true;
            case "enum": return masker.TryItem(at, "i8", item, MembersOf(type.TypeName));
            case "list" when kind == CborKind.Array && type.Inner is [{ Name: "char", IsNullable: false }]:
                masker.Characters(at, item, ValueMasker.Parts(item, kind));
                return true;
            case "list" when kind == CborKind.Array && type.Inner is [var each]:
                Items(item, at, _ => each);
                if (each.Name is "uint16" or "int16" or "uint32" or "int32")
                    masker.Characters(at, item, ValueMasker.Parts(item, kind), areCodes: true);
                return true;
            case "tuple" when kind == CborKind.Array: Items(item, at, i => i < type.Inner.Count ? type.Inner[i] : null); return true;
            case "map" when kind == CborKind.Array && type.Inner.Count == 2: Pairs(item, type, at); return true;
            case "union" when kind == CborKind.Array: return TryCase(item, type, at);
            case "data" when kind == CborKind.Map && contracts.FieldsOf(type.TypeName) is { } fields:
                Data(item, type.TypeName, fields, at);
                return true;
            default: return false;
        }
    }

    private void Items(Span<byte> item, PlaceName at, Func<int, SchemaType?> typeOf)
    {
        List<Range> parts = ValueMasker.Parts(item, CborKind.Array);
        for (int i = 0; i < parts.Count; i++) Mask(item[parts[i]], typeOf(i), at);
    }

    private void Pairs(Span<byte> item, SchemaType type, PlaceName at)
    {
        PlaceName keys = masker.Rules.KeysOf(at);
        foreach (Range each in ValueMasker.Parts(item, CborKind.Array))
        {
            Span<byte> pair = item[each];
            if (new CborReader(pair).PeekKind() != CborKind.Array || ValueMasker.Parts(pair, CborKind.Array) is not [var key, var value])
                masker.Item(at, pair);
            else
            {
                Mask(pair[key], type.Inner[0], keys);
                Mask(pair[value], type.Inner[1], at);
            }
        }
    }

    private bool TryCase(Span<byte> item, SchemaType type, PlaceName at)
    {
        if (ValueMasker.Parts(item, CborKind.Array) is not [var number, var data]
            || new CborReader(item[number]).PeekKind() != CborKind.Unsigned) return false;
        Mask(item[data], contracts.CaseOf(type.TypeName, new CborReader(item[number]).ReadUInt64()), at);
        return true;
    }

    private void Data(Span<byte> item, string type, IReadOnlyList<ContractField> fields, PlaceName at)
    {
        List<Range> parts = ValueMasker.Parts(item, CborKind.Map);
        for (int i = 0; i + 1 < parts.Count; i += 2)
        {
            ContractField? field = FieldOf(item[parts[i]], fields);
            Mask(item[parts[i + 1]], field?.Type, field is null ? at : masker.Rules.Of(type, field.Name, at));
        }
    }

    private static ContractField? FieldOf(ReadOnlySpan<byte> key, IReadOnlyList<ContractField> fields)
    {
        var from = new CborReader(key);
        return from.PeekKind() switch
        {
            CborKind.Unsigned when from.ReadUInt64() is var number => fields.FirstOrDefault(each => each.Number == number),
            CborKind.Text when from.ReadString() is var name => fields.FirstOrDefault(each => each.Number is null && each.Name == name),
            _ => null,
        };
    }

    private Int128[] MembersOf(string type)
    {
        if (_members.TryGetValue(type, out Int128[]? members)) return members;
        return _members[type] =
            [.. contracts.NumbersOf(type).Select(static each => Int128.Parse(each, CultureInfo.InvariantCulture)).Order()];
    }
}
