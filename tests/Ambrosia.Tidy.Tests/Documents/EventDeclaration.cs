using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>An event for operators, as a method with [LoggerMessage] declares it, or as a row of a document states it.</summary>
/// <param name="Fields">The names of its fields as JSON has them, with spaces between.</param>
internal sealed partial record EventDeclaration(string Name, string Level, string Text, string Fields)
{
    private const string Attribute = "LoggerMessage";

    /// <summary>Members of every line in JSON; the instance of an event is that of its line.</summary>
    private static readonly string[] s_taken = ["time", "level", "event", "text"];

    private static readonly Dictionary<string, string> s_levels = new()
    {
        ["Trace"] = "trace", ["Debug"] = "debug", ["Information"] = "info", ["Warning"] = "warn", ["Error"] = "error",
        ["Critical"] = "fatal",
    };

    public static IEnumerable<EventDeclaration> In(SyntaxNode source) =>
        AttributesIn(source).Select(static attribute => new EventDeclaration(ValueOf(attribute, "EventName"),
        s_levels.GetValueOrDefault(ValueOf(attribute, "Level").Split('.')[^1], "none"),
        ValueOf(attribute, "Message"), string.Join(' ', FieldsOf(attribute))));

    /// <summary>The rows of the table of events: name, level, text, fields, what it means.</summary>
    public static IEnumerable<EventDeclaration> InTable(string document) => Row().Matches(document).Select(static row =>
        new EventDeclaration(row.Groups["name"].Value, row.Groups["level"].Value, row.Groups["text"].Value,
        string.Join(' ', Quoted().Matches(row.Groups["fields"].Value).Select(static field => field.Groups["name"].Value))));

    /// <summary>Says what is wrong with declarations by themselves: ids, names and fields.</summary>
    public static IEnumerable<string> FindFaults(IEnumerable<(string Path, SyntaxNode Syntax)> sources)
    {
        var ids = new HashSet<string>();
        var names = new HashSet<string>();
        foreach ((string path, SyntaxNode syntax) in sources)
        {
            foreach (AttributeSyntax attribute in AttributesIn(syntax))
            {
                string name = ValueOf(attribute, "EventName"), id = ValueOf(attribute, "EventId");
                if (!DottedName().IsMatch(name)) yield return $"{path}: the event '{name}' has no name of small letters with dots";
                if (!names.Add(name)) yield return $"{path}: the event '{name}' is declared twice";
                if (id.Length == 0 || !ids.Add(id)) yield return $"{path}: the event '{name}' has no id of its own";
                string[] fields = [.. FieldsOf(attribute)];
                foreach (string taken in fields.Intersect(s_taken))
                    yield return $"{path}: the field '{taken}' of '{name}' has a name that every line has";
                foreach (Match hole in Hole().Matches(ValueOf(attribute, "Message")))
                    if (!fields.Contains(Camel(hole.Groups["name"].Value))) yield return $"{path}: '{name}' has no field {hole.Value}";
            }

            foreach (InvocationExpressionSyntax call in syntax.DescendantNodes().OfType<InvocationExpressionSyntax>())
                if (Undeclared().IsMatch(call.Expression.ToString()))
                    yield return $"{path}: {call.Expression} logs what is not declared as an event";
        }
    }

    private static IEnumerable<AttributeSyntax> AttributesIn(SyntaxNode source) =>
        source.DescendantNodes().OfType<AttributeSyntax>().Where(static attribute => attribute.Name.ToString() == Attribute);

    private static string ValueOf(AttributeSyntax attribute, string name) =>
        attribute.ArgumentList?.Arguments.FirstOrDefault(each => each.NameEquals?.Name.Identifier.Text == name)?.Expression switch
        {
            LiteralExpressionSyntax literal => literal.Token.ValueText,
            { } other => other.ToString(),
            null => "",
        };

    /// <summary>The parameters of the method, but for its logger.</summary>
    private static IEnumerable<string> FieldsOf(AttributeSyntax attribute) =>
        ((MethodDeclarationSyntax)attribute.Parent!.Parent!).ParameterList.Parameters
            .Where(static parameter => parameter.Type?.ToString() != "ILogger")
            .Select(static parameter => Camel(parameter.Identifier.Text));

    private static string Camel(string name) => char.ToLowerInvariant(name[0]) + name[1..];

    [GeneratedRegex(@"^[a-z]+(\.[a-z]+)+$")]
    private static partial Regex DottedName();

    [GeneratedRegex(@"\{(?<name>\w+)(:[^}]*)?\}")]
    private static partial Regex Hole();

    [GeneratedRegex(@"\.Log(Trace|Debug|Information|Warning|Error|Critical)$|[lL]ogger\.Log$|^LoggerMessage\.Define")]
    private static partial Regex Undeclared();

    [GeneratedRegex(@"^\| `(?<name>[a-z]+(\.[a-z]+)+)` \| (?<level>[a-z]+) \| `(?<text>[^`|]+)` \|(?<fields>[^|]*)\| [^|]+ \|$",
        RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex("`(?<name>[^`]+)`")]
    private static partial Regex Quoted();
}
