using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Deterministic code is not reported: files that were written to come near to each rule, with cultures, and every app of the repository,
/// whose build has the analyzers on. The sizes are those that docs/testing.md tells.
/// </summary>
public sealed partial class CorpusTests
{
    private static readonly string s_root = Root();

    public static TheoryData<string> Files => [.. Directory.GetFiles(Corpus, "*.txt").Select(static each => Path.GetFileName(each)!)];

    private static string Corpus => Path.Combine(AppContext.BaseDirectory, "Analyzers", "Corpus");

    [Theory]
    [MemberData(nameof(Files))]
    public void Corpus_IsNotReported(string file)
    {
        Generation generation = Generation.Of(File.ReadAllText(Path.Combine(Corpus, file)));

        Assert.Empty(Analysis.Of(generation).Select(static each => each.ToString()));
    }

    /// <summary>Their builds fail where a rule is broken. The files for which .editorconfig switches rules off are not counted.</summary>
    [Fact]
    public void Apps_OfTheRepository_AreBuiltWithTheAnalyzers()
    {
        string[] projects = [.. Sources("*.csproj").Where(static path => Analyzer().IsMatch(File.ReadAllText(path)))];
        Regex[] excepted = [.. Excepted()];
        int lines = 0, methods = 0, immortals = 0;
        foreach (string path in projects.SelectMany(static path => Directory.EnumerateFiles(Path.GetDirectoryName(path)!, "*.cs",
            SearchOption.AllDirectories)).Where(IsSource))
        {
            string name = Path.GetRelativePath(s_root, path).Replace('\\', '/'), text = File.ReadAllText(path);
            if (excepted.Any(each => each.IsMatch(name)) || Pragma().IsMatch(text)) continue;
            SyntaxNode root = CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview)).GetRoot();
            lines += text.AsSpan().Count('\n');
            methods += root.DescendantNodes().Count(static each => each is BaseMethodDeclarationSyntax or AccessorDeclarationSyntax);
            immortals += root.DescendantNodes().OfType<BaseTypeSyntax>()
                .Count(static each => each.Type is GenericNameSyntax { Identifier.Text: "Immortal" });
        }

        Assert.All(projects, static path => Assert.DoesNotContain("NoWarn>AMB", File.ReadAllText(path), StringComparison.Ordinal));
        Assert.True(projects.Length >= 15 && immortals >= 40 && methods >= 1000 && lines >= 15_000,
            $"{projects.Length} projects with {immortals} immortals, {methods} methods in {lines} lines");
    }

    /// <summary>Returns patterns of the files for which a rule is off.</summary>
    private static IEnumerable<Regex> Excepted() => File.ReadAllText(Path.Combine(s_root, ".editorconfig")).Split("\n[").Skip(1)
        .Where(static section => section.Contains("dotnet_diagnostic.AMB", StringComparison.Ordinal))
        .Select(static section => new Regex("^" + Regex.Escape(section[..section.IndexOf("]\n", StringComparison.Ordinal)])
            .Replace(@"\{", "(", StringComparison.Ordinal).Replace("}", ")", StringComparison.Ordinal)
            .Replace(",", "|", StringComparison.Ordinal)
            .Replace(@"\*", "[^/]*", StringComparison.Ordinal) + "$"));

    private static IEnumerable<string> Sources(string pattern) => new[] { "samples", "tests", "perf" }
        .SelectMany(folder => Directory.EnumerateFiles(Path.Combine(s_root, folder), pattern, SearchOption.AllDirectories)).Where(IsSource);

    private static bool IsSource(string path) => !path.Split(Path.DirectorySeparatorChar).Any(static each => each is "obj" or "bin");

    private static string Root()
    {
        string at = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(at, "Ambrosia.sln"))) at = Path.GetDirectoryName(at)!;
        return at;
    }

    [GeneratedRegex("Ambrosia.Generators.csproj\"[^>]*OutputItemType=\"Analyzer\"")]
    private static partial Regex Analyzer();

    [GeneratedRegex(@"#pragma warning disable[^\n]*AMB\d|SuppressMessage[^\n]*AMB\d")]
    private static partial Regex Pragma();
}
