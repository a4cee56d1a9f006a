using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// docs/formats.md lists every constant of the product that says which version of a format is written, with that version: what is not
/// listed there is not thought of.
/// </summary>
public sealed partial class FormatTests
{
    private const string DocumentPath = "docs/formats.md";

    private static readonly string[] s_names = ["Format", "Version", "ProtocolVersion"];

    private sealed record FormatVersion(string Path, string Constant, ulong Version);

    [Fact]
    public void Formats_OfTheProduct_AreThoseOfTheTable() =>
        Repository.AssertNone(FindDifferences(Listed(Repository.Read(DocumentPath)), Declared(Repository.Product)));

    [Fact]
    public void Planted_Differences_AreFound()
    {
        const string Table = "| a | b | 1 | `x/A.cs` `Format` | nobody |\n| c | d | 2 | `x/B.cs` `Version` | nobody |\n";
        SourceFile[] sources =
        [
            new("x/A.cs", "class A { private const ushort Format = 2; const int Other = 5; }"),
            new("x/C.cs", "class C { internal const uint Version = 7; static string Text => \"\"; }"),
        ];
        Assert.Equal(
            ["docs/formats.md: lists x/A.cs Format of version 1, which is not there",
                "docs/formats.md: lists x/B.cs Version of version 2, which is not there", "x/A.cs: Format of version 2 is not listed",
                "x/C.cs: Version of version 7 is not listed"],
            FindDifferences(Listed(Table), Declared(sources)).Select(static found => found.ToString()).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Version_OfTheProtocol_IsTwoNumbers() => Assert.Matches(@"^\d+\.\d+\n$", Repository.Read("protocol/VERSION"));

    private static IEnumerable<Finding> FindDifferences(IEnumerable<FormatVersion> listed, IEnumerable<FormatVersion> declared)
    {
        HashSet<FormatVersion> inTable = [.. listed], inCode = [.. declared];
        return inTable.Except(inCode)
            .Select(static each => new Finding(DocumentPath, $"lists {each.Path} {each.Constant} of version {each.Version}, which is not there"))
            .Concat(inCode.Except(inTable)
                .Select(static each => new Finding(each.Path, $"{each.Constant} of version {each.Version} is not listed")));
    }

    private static IEnumerable<FormatVersion> Listed(string document) =>
        Row().Matches(document).Select(static row => new FormatVersion(
            row.Groups[2].Value, row.Groups[3].Value, ulong.Parse(row.Groups[1].Value, CultureInfo.InvariantCulture)));

    private static IEnumerable<FormatVersion> Declared(IEnumerable<SourceFile> sources) =>
        from source in sources
        from field in source.Syntax.DescendantNodes().OfType<FieldDeclarationSyntax>()
        where field.Modifiers.Any(static modifier => modifier.IsKind(SyntaxKind.ConstKeyword))
        from variable in field.Declaration.Variables
        where s_names.Contains(variable.Identifier.Text) && variable.Initializer?.Value is LiteralExpressionSyntax { Token.Value: int }
        select new FormatVersion(
            source.Path, variable.Identifier.Text,
            (ulong)(int)((LiteralExpressionSyntax)variable.Initializer!.Value).Token.Value!);

    [GeneratedRegex(@"^\|[^|]*\|[^|]*\| (\d+) \| `([^`|]*)` `([^`|]*)` \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
