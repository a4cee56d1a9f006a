using System.Globalization;

namespace Ambrosia.Inspection.Decoding;

/// <summary>
/// Says how values are written as JSON for people, where JSON itself has no form for them: as <c>ambrosia state</c> writes them.
/// </summary>
internal static class ValueTexts
{
    /// <summary>The only member of an object that stands for bytes; its value is hexadecimal digits.</summary>
    public const string Bytes = "$bytes";

    private const string Local = " local", Ticks = "yyyy-MM-dd'T'HH:mm:ss.FFFFFFF";

    /// <summary>Returns a date as text: with Z for UTC, and the word behind a local time, whose offset nobody knows.</summary>
    public static string Of(DateTime date)
    {
        string zone = date.Kind switch { DateTimeKind.Utc => "Z", DateTimeKind.Local => Local, _ => "" };
        return date.ToString(Ticks, CultureInfo.InvariantCulture) + zone;
    }

    /// <summary>Reads such a date.</summary>
    /// <exception cref="FormatException">It is none.</exception>
    public static DateTime DateTimeOf(string text)
    {
        bool isUtc = text.EndsWith('Z'), isLocal = text.EndsWith(Local, StringComparison.Ordinal);
        string plain = isUtc ? text[..^1] : isLocal ? text[..^Local.Length] : text;
        DateTime date = DateTime.Parse(plain, CultureInfo.InvariantCulture, DateTimeStyles.None);
        if (date.Kind != DateTimeKind.Unspecified) throw new FormatException();
        return DateTime.SpecifyKind(date, isUtc ? DateTimeKind.Utc : isLocal ? DateTimeKind.Local : DateTimeKind.Unspecified);
    }

    /// <summary>Returns the name of a type without its namespace.</summary>
    public static string SimpleName(SchemaType type) => type.TypeName[(type.TypeName.LastIndexOf('.') + 1)..];

    /// <summary>Returns how a value of a type looks, for whom a refusal tells it.</summary>
    public static string ExampleOf(SchemaType type) => type.Name switch
    {
        "bool" => "true or false",
        "char" => "a text of one character",
        "text" => "a text in quotes",
        "bytes" => "{\"$bytes\": \"0a0b\"}",
        "guid" => "\"6f1c9e0a-…\"",
        "datetime" => "\"2026-11-21T08:14:09Z\"",
        "datetimeoffset" => "\"2026-11-21T08:14:09+01:00\"",
        "timespan" => "\"1.02:03:04.5\"",
        "date" => "\"2026-11-21\"",
        "time" => "\"08:14:09\"",
        "enum" => "the name of a member in quotes",
        "list" => "an array",
        "tuple" => $"an array of {type.Inner.Count}",
        "map" => "an object, or an array of pairs",
        "data" => "an object with the names of its fields",
        "union" => "an object of one member, whose name is the case",
        _ => "a number in its range",
    } + (type.IsNullable ? ", or null" : "");
}
