using System.Globalization;
using System.Text.Json;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// Encodes values that a person writes as JSON, by their types in the manifest (docs/contract.md C3): the counterpart of
/// <see cref="ValueJson"/>, whose output it takes. What does not fit is refused by the path at which it stands.
/// </summary>
internal sealed class ValueEncoder(ContractManifests contracts)
{
    private const int Offered = 2, ShownCharsMax = 80;

    /// <summary>Writes a value.</summary>
    /// <param name="where">Names it for refusals.</param>
    /// <exception cref="MisuseException">It is no value of this type.</exception>
    public void Write(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        try
        {
            if (value.ValueKind == JsonValueKind.Null && type.IsNullable) to.WriteNull();
            else WriteKnown(ref to, value, type, where);
        }
        catch (Exception e) when (e is InvalidOperationException or FormatException or OverflowException or ArgumentException)
        {
            throw Unfit(value, type, where);
        }
    }

    private void WriteKnown(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        switch (type.Name)
        {
            case "bool": to.WriteBoolean(value.GetBoolean()); break;
            case "int8": to.WriteInt64(value.GetSByte()); break;
            case "int16": to.WriteInt64(value.GetInt16()); break;
            case "int32": to.WriteInt64(value.GetInt32()); break;
            case "int64": to.WriteInt64(value.GetInt64()); break;
            case "uint8": to.WriteUInt64(value.GetByte()); break;
            case "uint16": to.WriteUInt64(value.GetUInt16()); break;
            case "uint32": to.WriteUInt64(value.GetUInt32()); break;
            case "uint64": to.WriteUInt64(value.GetUInt64()); break;
            case "float32": to.WriteSingle((float)FloatOf(value)); break;
            case "float64": to.WriteDouble(FloatOf(value)); break;
            case "decimal": to.WriteDecimal(value.GetDecimal()); break;
            case "char": to.WriteChar(CharOf(value)); break;
            case "text": to.WriteString(TextOf(value)); break;
            case "bytes": to.WriteBytes(BytesOf(value)); break;
            case "guid": to.WriteGuid(value.GetGuid()); break;
            case "datetime": to.WriteDateTime(ValueTexts.DateTimeOf(TextOf(value))); break;
            case "datetimeoffset": to.WriteDateTimeOffset(value.GetDateTimeOffset()); break;
            case "timespan": to.WriteTimeSpan(TimeSpan.Parse(TextOf(value), CultureInfo.InvariantCulture)); break;
            case "date": to.WriteDateOnly(DateOnly.Parse(TextOf(value), CultureInfo.InvariantCulture)); break;
            case "time": to.WriteTimeOnly(TimeOnly.Parse(TextOf(value), CultureInfo.InvariantCulture)); break;
            case "enum": WriteEnum(ref to, value, type, where); break;
            case "list": WriteList(ref to, value, type.Inner[0], where); break;
            case "tuple": WriteTuple(ref to, value, type, where); break;
            case "map": WriteMap(ref to, value, type, where); break;
            case "data": WriteData(ref to, value, type, where); break;
            case "union": WriteCase(ref to, value, type, where); break;
            default: throw Unfit(value, type, where);
        }
    }

    /// <summary>Half of a surrogate pair, which no text can hold, is a number.</summary>
    private static char CharOf(JsonElement value) => value.ValueKind == JsonValueKind.Number ? (char)value.GetUInt16()
        : TextOf(value) is [var only] ? only : throw new FormatException();

    /// <summary>Returns the bytes of a value that travels as it is (protocol P4.2).</summary>
    /// <exception cref="MisuseException">It is none.</exception>
    public static byte[] Raw(JsonElement value, SchemaType type, string where)
    {
        try
        {
            return BytesOf(value);
        }
        catch (Exception e) when (e is InvalidOperationException or FormatException or KeyNotFoundException)
        {
            throw Unfit(value, type, where);
        }
    }

    private void WriteEnum(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        string number = value.ValueKind == JsonValueKind.Number ? value.GetRawText()
            : contracts.NumberOf(type.TypeName, TextOf(value))
                ?? throw UnknownName(TextOf(value), type, contracts.MembersOf(type.TypeName), where);
        if (number.StartsWith('-')) to.WriteInt64(long.Parse(number, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture));
        else to.WriteUInt64(ulong.Parse(number, NumberStyles.None, CultureInfo.InvariantCulture));
    }

    private void WriteList(ref CborWriter to, JsonElement value, SchemaType item, string where)
    {
        to.WriteArrayHeader(value.GetArrayLength());
        int index = 0;
        foreach (JsonElement each in value.EnumerateArray()) Write(ref to, each, item, $"{where}[{index++}]");
    }

    private void WriteTuple(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        if (value.GetArrayLength() != type.Inner.Count) throw new FormatException();
        to.WriteArrayHeader(type.Inner.Count);
        for (int i = 0; i < type.Inner.Count; i++) Write(ref to, value[i], type.Inner[i], $"{where}[{i}]");
    }

    /// <summary>Writes a map: an object, whose names are its keys, or an array of pairs.</summary>
    private void WriteMap(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        (SchemaType key, SchemaType item) = (type.Inner[0], type.Inner[1]);
        if (value.ValueKind == JsonValueKind.Array)
        {
            to.WriteArrayHeader(value.GetArrayLength());
            int index = 0;
            foreach (JsonElement pair in value.EnumerateArray())
            {
                if (pair.GetArrayLength() != 2) throw new FormatException();
                to.WriteArrayHeader(2);
                Write(ref to, pair[0], key, $"{where}[{index}][0]");
                Write(ref to, pair[1], item, $"{where}[{index++}][1]");
            }
            return;
        }
        if (key.Name != "text") throw new FormatException();
        to.WriteArrayHeader(value.EnumerateObject().Count());
        foreach (JsonProperty pair in value.EnumerateObject())
        {
            to.WriteArrayHeader(2);
            to.WriteString(pair.Name);
            Write(ref to, pair.Value, item, $"{where}[\"{pair.Name}\"]");
        }
    }

    /// <summary>Writes data with the fields that are given, in the manifest's order; a reader gives the others their defaults.</summary>
    private void WriteData(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        if (contracts.FieldsOf(type.TypeName) is not { } fields) throw Unfit(value, type, where);
        foreach (JsonProperty given in value.EnumerateObject())
            if (!fields.Any(field => field.Name == given.Name))
                throw UnknownName(given.Name, type, fields.Select(static field => field.Name), where);
        ContractField[] written = [.. fields.Where(field => value.TryGetProperty(field.Name, out _))];
        to.WriteMapHeader(written.Length);
        foreach (ContractField field in written)
        {
            if (field.Number is { } number) to.WriteUInt64(number);
            else to.WriteString(field.Name);
            Write(ref to, value.GetProperty(field.Name), field.Type, $"{where}.{field.Name}");
        }
    }

    /// <summary>Writes a union's value: an object of one member, whose name is the case.</summary>
    private void WriteCase(ref CborWriter to, JsonElement value, SchemaType type, string where)
    {
        JsonProperty given = value.EnumerateObject().Single();
        foreach ((ulong number, SchemaType data) in contracts.CasesOf(type.TypeName))
        {
            if (ValueTexts.SimpleName(data) != given.Name) continue;
            to.WriteArrayHeader(2);
            to.WriteUInt64(number);
            Write(ref to, given.Value, data, $"{where}.{given.Name}");
            return;
        }
        throw UnknownName(
            given.Name, type, contracts.CasesOf(type.TypeName).Select(static each => ValueTexts.SimpleName(each.Data)), where);
    }

    private static double FloatOf(JsonElement value) => value.ValueKind == JsonValueKind.Number ? value.GetDouble() : TextOf(value) switch
    {
        "NaN" => double.NaN,
        "Infinity" => double.PositiveInfinity,
        "-Infinity" => double.NegativeInfinity,
        _ => throw new FormatException(),
    };

    private static string TextOf(JsonElement value) => value.GetString() ?? throw new FormatException();

    private static byte[] BytesOf(JsonElement value) =>
        Convert.FromHexString(value.TryGetProperty(ValueTexts.Bytes, out JsonElement hex) ? TextOf(hex) : throw new FormatException());

    private static MisuseException Unfit(JsonElement value, SchemaType type, string where) =>
        new($"{where} is no {type.Text}", $"{Shortened(value.GetRawText())} was given", $"write {ValueTexts.ExampleOf(type)}");

    private static string Shortened(string text) => text.Length <= ShownCharsMax ? text : $"{text[..ShownCharsMax]}…";

    private static MisuseException UnknownName(string name, SchemaType type, IEnumerable<string> names, string where)
    {
        string near = string.Join(" and ", NearestNames.Of(name, names, Offered));
        return new MisuseException($"{where} is no {type.Text}: that has no '{name}'", "",
            near.Length > 0 ? $"near it there are {near}" : "no manifest has its names");
    }
}
