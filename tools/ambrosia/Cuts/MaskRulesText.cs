using System.Text;
using Ambrosia.Inspection.Texts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Cuts;

/// <summary>Reads what the user gives as <c>--mask</c>: names with commas between, or a file with one a line.</summary>
internal static class MaskRulesText
{
    /// <summary>Returns the rules, each once; null: none are given.</summary>
    /// <exception cref="MisuseException">There is none among them, or the file cannot be read.</exception>
    public static IReadOnlyList<string>? Parse(string? text)
    {
        if (text is null) return null;
        IEnumerable<string> parts = text.StartsWith('@') ? Lines(text[1..]) : text.Split(',');
        string[] rules =
            [.. parts.Select(static part => part.Trim()).Where(static part => part.Length > 0).Distinct(StringComparer.Ordinal)];
        if (rules.Length == 0)
            throw new ToolMisuse($"'{text}' of --mask names nothing", "a rule is the name of a field, a parameter or a result",
                "give names with commas between, as Owner,IBank.Transfer.to, or @FILE with one a line");
        return Array.Find(rules, static rule => rule.Trim('.', '_').Length == 0) is not { } none ? rules
            : throw new ToolMisuse($"'{none}' of --mask is no name", "", "give names like Owner, Account.Owner or IBank.Transfer.to");
    }

    /// <summary>Lines that begin with # are remarks.</summary>
    private static IEnumerable<string> Lines(string file)
    {
        try
        {
            return Encoding.UTF8.GetString(GivenFile.Read(file)).Split('\n').Where(static line => !line.TrimStart().StartsWith('#'));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ToolMisuse($"'{file}' of --mask cannot be read", e.Message, "give @FILE with a name on each line");
        }
    }
}
