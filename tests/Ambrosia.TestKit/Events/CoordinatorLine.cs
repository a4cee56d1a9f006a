using System.Text.Json;

namespace Ambrosia.TestKit;

/// <summary>A line that a coordinator wrote with --log-format json, among those of its app.</summary>
public static class CoordinatorLine
{
    private const string Begin = "{\"time\":";

    /// <summary>Returns the text of an event; any other line is returned as it is.</summary>
    /// <param name="alone">The instance that has the output to itself: another's name comes before its text. Null: no name does.</param>
    public static string TextOf(string line, string? alone = null)
    {
        if (!line.StartsWith(Begin, StringComparison.Ordinal)) return line;
        using JsonDocument happened = JsonDocument.Parse(line);
        string text = happened.RootElement.GetProperty("text").GetString()!;
        string instance = happened.RootElement.GetProperty("instance").GetString()!;
        return alone is null || alone == instance ? text : $"{instance}: {text}";
    }
}
