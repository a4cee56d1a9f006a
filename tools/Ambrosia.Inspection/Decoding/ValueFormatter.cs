using System.Globalization;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// Writes values as text, by their types in the manifest: dates as dates, data with the names of its fields. A value that does not fit its
/// type, because another version of the app wrote it, is shown in diagnostic notation, so nothing is ever hidden.
/// </summary>
internal sealed class ValueFormatter(ContractManifests contracts, int stringBytesMax)
{
    private readonly CborDiagnostic _diagnostic = new(stringBytesMax);

    /// <summary>Writes bytes that are no CBOR, as h'…'.</summary>
    public string OfRaw(ReadOnlySpan<byte> bytes)
    {
        var to = new StringBuilder();
        _diagnostic.WriteBytes(bytes, to);
        return to.ToString();
    }

    /// <summary>Reads the next item of a sequence and writes it.</summary>
    /// <param name="type">The type, or null where it is not known.</param>
    /// <exception cref="CborException">It is malformed.</exception>
    public string Next(ref CborReader from, SchemaType? type)
    {
        var to = new StringBuilder();
        Write(ref from, type, to);
        return to.ToString();
    }

    private void Write(ref CborReader from, SchemaType? type, StringBuilder to)
    {
        ReadOnlySpan<byte> item = from.ReadEncoded();
        if (type is not null && TryWrite(item, type, to)) return;
        var again = new CborReader(item, lenient: true);
        _diagnostic.Write(ref again, to);
    }

    private bool TryWrite(ReadOnlySpan<byte> item, SchemaType type, StringBuilder to)
    {
        int before = to.Length;
        var from = new CborReader(item, lenient: true);
        try
        {
            if (type.IsNullable && from.TryReadNull()) to.Append("null");
            else if (!WriteKnown(ref from, type, to)) return false;
            if (from.AtEnd) return true;
        }
        catch (CborException) { }
        to.Length = before;
        return false;
    }

    /// <summary>
    /// Writes a value of a type that has a form of its own. Others are best shown in diagnostic notation: it writes nothing and returns
    /// false.
    /// </summary>
    private bool WriteKnown(ref CborReader from, SchemaType type, StringBuilder to)
    {
        switch (type.Name)
        {
            case "char": to.Append('\'').Append(CharOf(ref from)).Append('\''); return true;
            case "decimal": to.Append(CultureInfo.InvariantCulture, $"{from.ReadDecimal()}"); return true;
            case "guid": to.Append(from.ReadGuid()); return true;
            case "datetime": to.Append(from.ReadDateTime().ToString("O", CultureInfo.InvariantCulture)); return true;
            case "datetimeoffset": to.Append(from.ReadDateTimeOffset().ToString("O", CultureInfo.InvariantCulture)); return true;
            case "timespan": to.Append(from.ReadTimeSpan().ToString("c", CultureInfo.InvariantCulture)); return true;
            case "date": to.Append(from.ReadDateOnly().ToString("O", CultureInfo.InvariantCulture)); return true;
            case "time": to.Append(from.ReadTimeOnly().ToString("O", CultureInfo.InvariantCulture)); return true;
            case "enum": WriteEnum(ref from, type, to); return true;
            case "list": WriteItems(ref from, type, to, '[', ']'); return true;
            case "tuple": WriteItems(ref from, type, to, '(', ')'); return true;
            case "map": WritePairs(ref from, type, to); return true;
            case "union": WriteCase(ref from, type, to); return true;
            case "data" when contracts.FieldsOf(type.TypeName) is { } fields: WriteData(ref from, fields, to); return true;
            default: return false;
        }
    }

    private static string CharOf(ref CborReader from)
    {
        char c = from.ReadChar();
        return c is '\'' or '\\' ? $"\\u{(int)c:x4}" : HarmlessText.Quoted(c.ToString());
    }

    /// <summary>
    /// Writes the member of an enum as <c>Colour.Red</c>, or the number where no manifest has its name: <c>Colour(7)</c>.
    /// </summary>
    private void WriteEnum(ref CborReader from, SchemaType type, StringBuilder to)
    {
        var number = new StringBuilder();
        _diagnostic.Write(ref from, number);
        to.Append(SimpleName(type));
        if (contracts.MemberOf(type.TypeName, number.ToString()) is { } member) to.Append('.').Append(member);
        else to.Append('(').Append(number).Append(')');
    }

    /// <summary>Writes a union's value as its case: <c>Card{Number: "1"}</c>, or by its number where no manifest has the case.</summary>
    private void WriteCase(ref CborReader from, SchemaType type, StringBuilder to)
    {
        if (from.ReadArrayHeader() != 2) throw Unfit(from.Position);
        ulong number = from.ReadUInt64();
        SchemaType? known = contracts.CaseOf(type.TypeName, number);
        to.Append(known is null ? $"{SimpleName(type)}#{number} " : SimpleName(known));
        Write(ref from, known, to);
    }

    private static string SimpleName(SchemaType type) => type.TypeName[(type.TypeName.LastIndexOf('.') + 1)..];

    private void WriteItems(ref CborReader from, SchemaType type, StringBuilder to, char open, char close)
    {
        int count = from.ReadArrayHeader();
        bool isTuple = type.Name == "tuple";
        if (count < 0 || type.Inner.Count == 0 || (isTuple && count != type.Inner.Count)) throw Unfit(from.Position);
        to.Append(open);
        for (int i = 0; i < count; i++)
        {
            if (i > 0) to.Append(", ");
            Write(ref from, type.Inner[isTuple ? i : 0], to);
        }
        to.Append(close);
    }

    private void WritePairs(ref CborReader from, SchemaType type, StringBuilder to)
    {
        int count = from.ReadArrayHeader();
        if (count < 0 || type.Inner.Count != 2) throw Unfit(from.Position);
        to.Append('{');
        for (int i = 0; i < count; i++)
        {
            if (i > 0) to.Append(", ");
            if (from.ReadArrayHeader() != 2) throw Unfit(from.Position);
            Write(ref from, type.Inner[0], to);
            to.Append(": ");
            Write(ref from, type.Inner[1], to);
        }
        to.Append('}');
    }

    private void WriteData(ref CborReader from, IReadOnlyList<ContractField> fields, StringBuilder to)
    {
        int count = from.ReadMapHeader();
        if (count < 0) throw Unfit(from.Position);
        to.Append('{');
        for (int i = 0; i < count; i++)
        {
            if (i > 0) to.Append(", ");
            ContractField? field = FieldOf(ref from, fields, to);
            to.Append(": ");
            Write(ref from, field?.Type, to);
        }
        to.Append('}');
    }

    /// <summary>Reads a key and writes the field's name, or the key itself where the manifest has no such field.</summary>
    private ContractField? FieldOf(ref CborReader from, IReadOnlyList<ContractField> fields, StringBuilder to)
    {
        var key = new CborReader(from.ReadEncoded(), lenient: true);
        CborReader again = key;
        ContractField? field = key.PeekKind() switch
        {
            CborKind.Unsigned when key.ReadUInt64() is var number => fields.FirstOrDefault(each => each.Number == number),
            CborKind.Text when key.ReadString() is var name => fields.FirstOrDefault(each => each.Number is null && each.Name == name),
            _ => null,
        };
        if (field is not null) to.Append(field.Name);
        else _diagnostic.Write(ref again, to);
        return field;
    }

    private static CborException Unfit(int at) => new(CborError.WrongType, at, "an item that does not fit its type");
}
