using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// Turns values into JSON, by their types in the manifest: data with the names of its fields, enums by their members. What does not fit its
/// type is a text in diagnostic notation, so nothing is ever hidden.
/// </summary>
internal sealed class ValueJson(ContractManifests contracts)
{
    private readonly CborDiagnostic _diagnostic = new(int.MaxValue);

    /// <summary>Reads the next item.</summary>
    /// <param name="type">Null: it is not known.</param>
    /// <exception cref="CborException">It is malformed.</exception>
    public JsonNode? Next(ref CborReader from, SchemaType? type)
    {
        if (type is null) return Diagnostic(from.ReadEncoded());
        CborReader start = from;
        try
        {
            return Known(ref from, type);
        }
        catch (CborException)
        {
            from = start;
            return Diagnostic(from.ReadEncoded());
        }
    }

    /// <summary>Returns bytes as they are written.</summary>
    public static JsonNode OfBytes(ReadOnlySpan<byte> bytes) => new JsonObject { [ValueTexts.Bytes] = Convert.ToHexStringLower(bytes) };

    private JsonNode Diagnostic(ReadOnlySpan<byte> item)
    {
        var text = new StringBuilder();
        var from = new CborReader(item, lenient: true);
        _diagnostic.Write(ref from, text);
        return text.ToString();
    }

    private JsonNode? Known(ref CborReader from, SchemaType type)
    {
        if (type.IsNullable && from.TryReadNull()) return null;
        return type.Name switch
        {
            "bool" => from.ReadBoolean(),
            "uint64" => from.ReadUInt64(),
            "int8" or "int16" or "int32" or "int64" or "uint8" or "uint16" or "uint32" => from.ReadInt64(),
            "float32" => from.ReadSingle() is var single && float.IsFinite(single) ? single : NotFinite(single),
            "float64" => from.ReadDouble() is var number && double.IsFinite(number) ? number : NotFinite(number),
            "decimal" => from.ReadDecimal(),
            "char" => from.ReadChar() is var letter && char.IsSurrogate(letter) ? (int)letter : letter.ToString(),
            "text" => from.ReadString(),
            "bytes" => OfBytes(from.ReadBytes()),
            "guid" => from.ReadGuid(),
            "datetime" => ValueTexts.Of(from.ReadDateTime()),
            "datetimeoffset" => from.ReadDateTimeOffset(),
            "timespan" => from.ReadTimeSpan().ToString("c", CultureInfo.InvariantCulture),
            "date" => from.ReadDateOnly().ToString("O", CultureInfo.InvariantCulture),
            "time" => from.ReadTimeOnly().ToString("O", CultureInfo.InvariantCulture),
            "enum" => Enum(ref from, type),
            "list" or "tuple" => Items(ref from, type),
            "map" => Map(ref from, type),
            "union" => Case(ref from, type),
            "data" when contracts.FieldsOf(type.TypeName) is { } fields => Data(ref from, fields),
            _ => Diagnostic(from.ReadEncoded()),
        };
    }

    private static JsonNode NotFinite(double value) => double.IsNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";

    private JsonNode Enum(ref CborReader from, SchemaType type)
    {
        if (from.PeekKind() == CborKind.Unsigned)
        {
            ulong number = from.ReadUInt64();
            return contracts.MemberOf(type.TypeName, number.ToString(CultureInfo.InvariantCulture)) is { } member ? member : number;
        }
        long negative = from.ReadInt64();
        return contracts.MemberOf(type.TypeName, negative.ToString(CultureInfo.InvariantCulture)) is { } below ? below : negative;
    }

    private JsonArray Items(ref CborReader from, SchemaType type)
    {
        int count = from.ReadArrayHeader();
        bool isTuple = type.Name == "tuple";
        if (count < 0 || (isTuple && count != type.Inner.Count)) throw Unfit(from.Position);
        var items = new JsonArray();
        for (int i = 0; i < count; i++) items.Add(Next(ref from, type.Inner[isTuple ? i : 0]));
        return items;
    }

    private JsonNode Map(ref CborReader from, SchemaType type)
    {
        int count = from.ReadArrayHeader();
        if (count < 0) throw Unfit(from.Position);
        bool isObject = type.Inner[0] is { Name: "text", IsNullable: false };
        var named = new JsonObject();
        var pairs = new JsonArray();
        for (int i = 0; i < count; i++)
        {
            if (from.ReadArrayHeader() != 2) throw Unfit(from.Position);
            if (isObject) named[from.ReadString()] = Next(ref from, type.Inner[1]);
            else pairs.Add((JsonNode)new JsonArray(Next(ref from, type.Inner[0]), Next(ref from, type.Inner[1])));
        }
        return isObject ? named : pairs;
    }

    private JsonObject Case(ref CborReader from, SchemaType type)
    {
        if (from.ReadArrayHeader() != 2) throw Unfit(from.Position);
        ulong number = from.ReadUInt64();
        SchemaType? known = contracts.CaseOf(type.TypeName, number);
        string name = known is null ? $"{ValueTexts.SimpleName(type)}#{number}" : ValueTexts.SimpleName(known);
        return new JsonObject { [name] = Next(ref from, known) };
    }

    private JsonObject Data(ref CborReader from, IReadOnlyList<ContractField> fields)
    {
        int count = from.ReadMapHeader();
        if (count < 0) throw Unfit(from.Position);
        var data = new JsonObject();
        for (int i = 0; i < count; i++)
        {
            bool isNumbered = from.PeekKind() == CborKind.Unsigned;
            ulong number = isNumbered ? from.ReadUInt64() : 0;
            string name = isNumbered ? $"#{number}" : from.ReadString();
            ContractField? field =
                fields.FirstOrDefault(each => isNumbered ? each.Number == number : each.Number is null && each.Name == name);
            data[field?.Name ?? name] = Next(ref from, field?.Type);
        }
        return data;
    }

    private static CborException Unfit(int at) => new(CborError.WrongType, at, "an item that does not fit its type");
}
