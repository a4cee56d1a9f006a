using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Reads the default of a parameter as a callee would (docs/contract.md C1.4, C3), to find one that no callee could take. It reads by types
/// that were found to be types of the manifest.
/// </summary>
internal sealed class DefaultValue(ContractModel types)
{
    /// <summary>Says why the hexadecimal text is no value of the type; null: it is one.</summary>
    public string? ProblemOf(string hex, SchemaType type)
    {
        if (hex.Length % 2 != 0 || !hex.All(static c => c is (>= '0' and <= '9') or (>= 'a' and <= 'f')))
            return $"its default '{hex}' is not lower-case hexadecimal";
        try
        {
            var from = new CborReader(Convert.FromHexString(hex));
            Read(ref from, type);
            return from.AtEnd ? null : $"its default '{hex}' goes on behind the value";
        }
        catch (Exception e) when (e is CborException or ArgumentException)
        {
            return $"its default '{hex}' is no {type.Text}: {e.Message.TrimEnd('.')}";
        }
    }

    private void Read(ref CborReader from, SchemaType type)
    {
        if (type.IsNullable && from.TryReadNull()) return;
        switch (type.Name)
        {
            case "list": ReadList(ref from, type); break;
            case "map": ReadMap(ref from, type); break;
            case "tuple":
                ExpectItems(ref from, type.Inner.Count);
                foreach (SchemaType inner in type.Inner) Read(ref from, inner);
                break;
            case "data": ReadData(ref from, types.Data[type.TypeName]); break;
            case "union": ReadCase(ref from, type); break;
            case "enum": ReadPlain(ref from, types.Enums[type.TypeName].Type); break;
            default: ReadPlain(ref from, type.Name); break;
        }
    }

    private static void ReadPlain(ref CborReader from, string type)
    {
        switch (type)
        {
            case "bool": from.ReadBoolean(); break;
            case "int8": from.ReadSByte(); break;
            case "int16": from.ReadInt16(); break;
            case "int32": from.ReadInt32(); break;
            case "int64": from.ReadInt64(); break;
            case "uint8": from.ReadByte(); break;
            case "uint16": from.ReadUInt16(); break;
            case "uint32": from.ReadUInt32(); break;
            case "uint64": from.ReadUInt64(); break;
            case "float32": from.ReadSingle(); break;
            case "float64": from.ReadDouble(); break;
            case "decimal": from.ReadDecimal(); break;
            case "char": from.ReadChar(); break;
            case "text": from.ReadString(); break;
            case "bytes": from.ReadBytes(); break;
            case "guid": from.ReadGuid(); break;
            case "datetime": from.ReadDateTime(); break;
            case "datetimeoffset": from.ReadDateTimeOffset(); break;
            case "timespan": from.ReadTimeSpan(); break;
            case "date": from.ReadDateOnly(); break;
            case "time": from.ReadTimeOnly(); break;
            default: throw new ArgumentException($"there is no type '{type}'");
        }
    }

    private void ReadList(ref CborReader from, SchemaType type)
    {
        for (int left = from.ReadArrayHeader(); left > 0; left--) Read(ref from, type.Inner[0]);
    }

    private void ReadMap(ref CborReader from, SchemaType type)
    {
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            ExpectItems(ref from, 2);
            Read(ref from, type.Inner[0]);
            Read(ref from, type.Inner[1]);
        }
    }

    /// <summary>Keys that no field has are passed over, and fields that are missing have their default (C3.7).</summary>
    private void ReadData(ref CborReader from, IReadOnlyList<FieldRow> fields)
    {
        from.EnterNested();
        for (int left = from.ReadMapHeader(); left > 0; left--)
        {
            var key = new CborReader(from.ReadEncoded());
            FieldRow? field = null;
            if (key.PeekKind() == CborKind.Unsigned)
            {
                ulong number = key.ReadUInt64();
                field = fields.FirstOrDefault(each => each.Number == number);
            }
            else if (key.PeekKind() == CborKind.Text)
            {
                string name = key.ReadString();
                field = fields.FirstOrDefault(each => each.Number is null && each.Name == name);
            }
            if (field is null) from.Skip();
            else Read(ref from, SchemaType.Parse(field.Type)!);
        }
        from.LeaveNested();
    }

    private void ReadCase(ref CborReader from, SchemaType type)
    {
        ExpectItems(ref from, 2);
        ulong number = from.ReadUInt64();
        CaseRow known = types.Unions[type.TypeName].FirstOrDefault(each => each.Number == number)
            ?? throw new ArgumentException($"{type.TypeName} has no case {number}");
        Read(ref from, SchemaType.Parse(known.Type)!);
    }

    private static void ExpectItems(ref CborReader from, int wanted)
    {
        int count = from.ReadArrayHeader();
        if (count != wanted) throw new ArgumentException($"an array of {count} items, where {wanted} belong");
    }
}
