using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Masking;
using Ambrosia.Inspection.States;
using Ambrosia.Protocol.Texts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Cuts;

/// <summary>Writes the source of a test that executes a cut, offline, and says what must hold behind its message.</summary>
internal sealed partial class IncidentTest
{
    private static readonly JsonSerializerOptions s_readable = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly string _file, _class, _name;
    private readonly (string Path, string Value)[] _expected;

    /// <param name="file">Of the source; it must not be there.</param>
    /// <param name="immortal">The class of the immortal, with its namespace.</param>
    /// <param name="expected">What must stand in the state, each as <c>PATH=JSON</c>.</param>
    /// <exception cref="MisuseException">One of these cannot be.</exception>
    public IncidentTest(string file, string immortal, IEnumerable<string> expected)
    {
        _file = Path.GetFullPath(file);
        _class = immortal;
        _name = Path.GetFileNameWithoutExtension(_file);
        if (File.Exists(_file)) throw new ToolMisuse($"'{file}' is there already", "", "give the name of a new file with --test");
        if (!_file.EndsWith(".cs", StringComparison.Ordinal) || !IsName(_name))
            throw new ToolMisuse($"'{file}' is no name for a test", "the class of the test has the name of its file", "give one like Incident4711.cs");
        if (!Array.TrueForAll(immortal.Split('.'), IsName))
            throw new ToolMisuse($"'{immortal}' is no name of a class", "", "give it with its namespace, as Demo.Bank");
        _expected = [.. expected.Select(Parse)];
    }

    /// <summary>Writes the file, and the directories above it.</summary>
    /// <param name="directory">Where the cut is.</param>
    /// <param name="masking">What was masked in the cut is masked in what must hold, too; null: nothing was.</param>
    /// <returns>Its path.</returns>
    public string Write(Cut cut, string directory, CutMasking? masking)
    {
        string own = Path.GetDirectoryName(_file)!;
        Directory.CreateDirectory(own);
        File.WriteAllText(_file, Source(cut, Path.GetRelativePath(own, directory).Replace('\\', '/'), masking));
        return _file;
    }

    private string Source(Cut cut, string path, CutMasking? masking)
    {
        var source = new StringBuilder()
            .Append("using Ambrosia;\nusing Xunit;\n\n")
            .Append("/// <summary>\n/// What ").Append(Escaped(cut.Instance)).Append(" did with this message:\n/// ")
            .Append(Escaped(cut.Message))
            .Append(cut.Masked is null ? "" : "\n/// Its values are masked, and what was done with it then was made anew with these.")
            .Append("\n/// </summary>\npublic sealed class ").Append(_name).Append("\n{\n    [Fact]\n    public void Message_Again_")
            .Append(_expected.Length > 0 ? "DoesWhatItShould" : cut.Then is null ? "IsSurvived" : "DoesWhatItDidThen").Append("()\n    {\n")
            .Append("        using ReplayedImmortal<").Append(_class).Append("> again = AmbrosiaHost.Replay<").Append(_class).Append(">(")
            .Append(HarmlessText.Literal(path)).Append(");\n");
        foreach ((string at, string value) in _expected)
            source.Append("        again.Must(").Append(HarmlessText.Literal(Masked(at, masking))).Append(", ")
                .Append(HarmlessText.Literal(Masked(value, masking)))
                .Append(");\n");
        if (_expected.Length == 0 && cut.Then is not null) source.Append("        again.MustBeAlike();\n");
        return source.Append("    }\n}\n").ToString();
    }

    /// <summary>Masks the texts in quotes of a path or of JSON.</summary>
    private static string Masked(string text, CutMasking? masking) => masking is null ? text : QuotedText().Replace(text, quoted =>
    {
        string content = quoted.Value[1..^1];
        if (quoted.Value[0] == '\'')
            content = content.Replace("\\'", "'", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal);
        return JsonNode.Parse($"\"{content}\"")?.GetValue<string>() is { } plain
            ? JsonSerializer.Serialize(masking.Masked(plain), s_readable) : quoted.Value;
    });

    [GeneratedRegex("""
        "(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'
        """)]
    private static partial Regex QuotedText();

    /// <summary>Reads <c>PATH=JSON</c>; an equals sign in a key of the path is none.</summary>
    private static (string Path, string Value) Parse(string expected)
    {
        bool isQuoted = false;
        int at = 0;
        for (; at < expected.Length && (isQuoted || expected[at] != '='); at++)
        {
            if (isQuoted && expected[at] == '\\') at++;
            else if (expected[at] == '"') isQuoted = !isQuoted;
        }
        if (at >= expected.Length)
            throw new ToolMisuse($"'{expected}' says nothing", "--expect is PATH=JSON", "write it like 'accounts[\"alice\"].Balance=0'");
        string path = expected[..at], value = expected[(at + 1)..];
        StatePaths.Parse(path);
        try
        {
            JsonNode.Parse(value);
        }
        catch (JsonException)
        {
            throw new ToolMisuse($"'{value}' is no JSON", "--expect is PATH=JSON", "write texts in quotes: 'Owner=\"alice\"'");
        }
        return (path, value);
    }

    private static bool IsName(string text) =>
        text.Length > 0 && (char.IsLetter(text[0]) || text[0] == '_') && text.All(static each => char.IsLetterOrDigit(each) || each == '_');

    /// <summary>A text of the log in a comment: to the compiler, more characters than the usual ones end a line.</summary>
    private static string Escaped(string text) =>
        HarmlessText.Comment(text).Replace("&", "&amp;", StringComparison.Ordinal).Replace("<", "&lt;", StringComparison.Ordinal)
            .Replace(">", "&gt;", StringComparison.Ordinal);
}
