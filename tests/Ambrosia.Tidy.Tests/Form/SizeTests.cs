using System.Globalization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// Files stay below 500 lines, methods below 70 and lines within the .editorconfig's columns; whoever needs more lines says why, here.
/// </summary>
public sealed class SizeTests
{
    private const int FileLinesMax = 500;
    private const int MethodLinesMax = 70;

    /// <summary>"path" or "path#method" → the reason. Short; an entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_excused = new()
    {
        ["tests/Ambrosia.Suspension.Tests/Shapes/Shapes.cs"] = "one text, which the tests edit and compile",
    };

    [Fact]
    public void Sizes_Repository_AreWithinLimits() =>
        Repository.AssertNone(
            Find(Repository.Sources).Where(static found => !s_excused.ContainsKey(found.Key)).Select(static found => found.What));

    [Fact]
    public void Excuses_AllOfThem_AreStillNeeded() =>
        Repository.AssertNone(
            s_excused.Keys.Except(Find(Repository.Sources).Select(static found => found.Key))
                .Select(static key => $"{key}: needs no excuse any more"));

    [Fact]
    public void Sizes_PlantedLongFileAndMethod_AreFound()
    {
        string body = string.Concat(Enumerable.Repeat("        x++;\n", FileLinesMax));
        SourceFile planted = new("CRA/Long.cs",
            $"class C\n{{\n    int x;\n    void Long()\n    {{\n{body}    }}\n\n    void Short() => x++;\n}}\n");
        Assert.Equal(["CRA/Long.cs", "CRA/Long.cs#Long"], Find([planted]).Select(static found => found.Key));
    }

    [Fact]
    public void Columns_Repository_AreWithinTheLimit() => Repository.AssertNone(FindWide(Repository.Sources));

    /// <summary>What users read stays in one piece, so that it can be searched for.</summary>
    [Fact]
    public void Columns_PlantedLongLines_AreFoundWhereNoTextReachesBeyond()
    {
        string name = new('n', ColumnsMax);
        SourceFile planted = new("CRA/Wide.cs",
            $"class C\n{{\n    int {name};\n    string s = $\"{{t}}{name}\";\n"
            + $"    // {name}\n    string u = \"{name}\", v;\n}}\n");
        Assert.Equal([3, 5, 6], FindWide([planted]).Select(static found => int.Parse(found.Path.Split(':')[1], CultureInfo.InvariantCulture)));
    }

    private static int ColumnsMax { get; } = int.Parse(
        File.ReadLines(Path.Combine(Repository.Root, ".editorconfig"))
            .Single(static line => line.StartsWith("max_line_length", StringComparison.Ordinal)).Split('=')[1],
        CultureInfo.InvariantCulture);

    private static IEnumerable<Finding> FindWide(IEnumerable<SourceFile> sources) =>
        from source in sources
        where !source.IsGenerated
        from line in source.Syntax.GetText().Lines
        where line.Span.Length > ColumnsMax && HasMoreThanText(source.Syntax, line)
        select new Finding($"{source}:{line.LineNumber + 1}", $"{line.Span.Length} columns, {ColumnsMax} at most");

    /// <summary>A text, and what closes the line behind it, may stand beyond the limit.</summary>
    private static bool HasMoreThanText(CompilationUnitSyntax syntax, TextLine line)
    {
        int last = line.Start + line.ToString().TrimEnd(' ', ')', ']', '}', ';', ',', '+').Length - 1, limit = line.Start + ColumnsMax;
        return last >= limit && !syntax.FindToken(last).Parent!.AncestorsAndSelf().Any(node => node.SpanStart < limit
            && node.Span.Contains(last) && node is InterpolatedStringExpressionSyntax or LiteralExpressionSyntax { Token.Value: string });
    }

    private static IEnumerable<(string Key, string What)> Find(IEnumerable<SourceFile> sources)
    {
        foreach (SourceFile source in sources.Where(static source => !source.IsGenerated))
        {
            if (source.LineCount > FileLinesMax) yield return (source.Path, $"{source}: {source.LineCount} lines, {FileLinesMax} at most");
            foreach (SyntaxNode node in source.Syntax.DescendantNodes())
            {
                if (NameOf(node) is not { } name) continue;
                int lines = LinesOf(node);
                if (lines > MethodLinesMax)
                    yield return ($"{source}#{name}", $"{source}: {name} has {lines} lines, {MethodLinesMax} at most");
            }
        }
    }

    private static string? NameOf(SyntaxNode node) => node switch
    {
        MethodDeclarationSyntax method => method.Identifier.Text,
        ConstructorDeclarationSyntax constructor => constructor.Identifier.Text,
        LocalFunctionStatementSyntax local => local.Identifier.Text,
        OperatorDeclarationSyntax @operator => @operator.OperatorToken.Text,
        AccessorDeclarationSyntax accessor => accessor.Keyword.Text,
        _ => null,
    };

    /// <summary>From the first line of the declaration to the last, without the comment above it.</summary>
    private static int LinesOf(SyntaxNode node)
    {
        LinePositionSpan span = node.SyntaxTree.GetLineSpan(node.Span).Span;
        return span.End.Line - span.Start.Line + 1;
    }
}
