using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Words;

/// <summary>One word, one thing: what the glossary tells to avoid is the name of nothing that we declare, and of no file.</summary>
public sealed class AvoidedWordTests
{
    private const string GlossaryPath = "docs/glossary.md";

    /// <summary>They tell of words that were, and of those to avoid.</summary>
    private static readonly string[] s_freeDocuments = [GlossaryPath, "CHANGELOG.md"];

    /// <summary>"path: name" → why the word is right there. Short; an entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_excused = new()
    {
        ["tests/Ambrosia.Conformance.Probe/Contracts.cs: Say"] = "the kit's contract names the step so, in every language",
    };

    private static readonly AvoidedWords s_avoided = AvoidedWords.Parse(Repository.Read(GlossaryPath));

    [Fact]
    public void Glossary_Lists_AreRead() => Repository.AssertNone(
        s_avoided.Count > 0 ? [] : [new Finding(GlossaryPath, "no entry has a list *Avoid*")]);

    [Fact]
    public void Names_AllSources_AvoidThem() => Repository.AssertNone(
        Found().Where(static found => !s_excused.ContainsKey(found.Key)).Select(static found => found.What));

    [Fact]
    public void Documents_All_AvoidThem() => Repository.AssertNone(
        Repository.Files.Where(static path => path.EndsWith(".md", StringComparison.Ordinal)).Except(s_freeDocuments)
            .SelectMany(static path => FindInDocument(s_avoided, path, Repository.Read(path))));

    [Fact]
    public void Excuses_AllOfThem_AreStillNeeded() => Repository.AssertNone(
        s_excused.Keys.Except(Found().Select(static found => found.Key)).Select(static key => $"{key}: needs no excuse any more"));

    [Fact]
    public void Words_Planted_AreFound()
    {
        AvoidedWords avoided = AvoidedWords.Parse("**Lease**: a standing. *Avoid*: tenure, duty book,\n`Let`.\n\n**Log**: a log.");
        Assert.Equal(["TenureWatch", "s_tenures", "DutyBook", "_dutyBooks", "Let", "tenure"], Names(avoided,
            "class TenureWatch { static int s_tenures; class DutyBook { int _dutyBooks; void Let(int tenure) { } } }"));
        Assert.Empty(FindInDocument(avoided, "a.md", "Let us see."));
        Assert.Empty(Names(avoided, "class Tenured { int Duty; int Book; int LetGo; void M() => Tenure.Let(); } // Tenure"));
        Assert.Equal(["CRA/Tenure.cs: Tenure"], FindInNames(avoided, new SourceFile("CRA/Tenure.cs", "")).Select(static found => found.Key));
        Assert.Single(FindInDocument(avoided, "a.md", "Let me see: it calls `A.Let(x)`. A tenure."));
    }

    private static IEnumerable<(string Key, Finding What)> Found() =>
        Repository.Sources.Where(static source => !source.IsGenerated).SelectMany(static source => FindInNames(s_avoided, source));

    private static IEnumerable<string> Names(AvoidedWords avoided, string text) =>
        FindInNames(avoided, new SourceFile("CRA/Planted.cs", text)).Select(static found => found.Key.Split(": ")[1]);

    /// <summary>Only what is declared is looked at: other people's names are theirs. So are names that we merely implement.</summary>
    private static IEnumerable<(string Key, Finding What)> FindInNames(AvoidedWords avoided, SourceFile source) =>
        from name in source.Syntax.DescendantNodes().Select(DeclaredIn).OfType<string>()
            .Concat(source.Path.Split('/').Select(static each => each.Replace(".cs", "", StringComparison.Ordinal))).Distinct()
        let word = avoided.FindIn(name)
        where word is not null
        select ($"{source}: {name}", new Finding(source.Path, $"{name}: the glossary avoids \"{word}\""));

    private static IEnumerable<Finding> FindInDocument(AvoidedWords avoided, string path, string text) =>
        avoided.FindInText(text).Distinct().Select(word => new Finding(path, $"the glossary avoids `{word}`"));

    private static string? DeclaredIn(SyntaxNode node) => node switch
    {
        MemberDeclarationSyntax member when member.Modifiers.Any(SyntaxKind.OverrideKeyword) => null,
        BaseTypeDeclarationSyntax type => type.Identifier.Text,
        DelegateDeclarationSyntax @delegate => @delegate.Identifier.Text,
        MethodDeclarationSyntax { ExplicitInterfaceSpecifier: null } method => method.Identifier.Text,
        PropertyDeclarationSyntax { ExplicitInterfaceSpecifier: null } property => property.Identifier.Text,
        EnumMemberDeclarationSyntax member => member.Identifier.Text,
        LocalFunctionStatementSyntax function => function.Identifier.Text,
        VariableDeclaratorSyntax variable => variable.Identifier.Text,
        SingleVariableDesignationSyntax variable => variable.Identifier.Text,
        ForEachStatementSyntax loop => loop.Identifier.Text,
        ParameterSyntax parameter => parameter.Identifier.Text,
        TypeParameterSyntax parameter => parameter.Identifier.Text,
        _ => null,
    };
}
