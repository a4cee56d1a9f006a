using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// The form of a source: it opens with its contract, has one public type, a file-scoped namespace, and nothing unfinished in it.
/// </summary>
public sealed class FormTests
{
    /// <summary>A public record of less lines may share the file of the type that it belongs to.</summary>
    private const int ValueLinesMax = 8;

    /// <summary>Words that say "unfinished"; put together here so that this file does not find itself.</summary>
    private static readonly string[] s_unfinished = ["TO" + "DO", "FIX" + "ME", "HA" + "CK", "NotImplemented" + "Exception"];

    [Fact]
    public void Sources_OutsideTests_OpenWithTheirContract() =>
        Repository.AssertNone(Ours().Where(static source => !source.IsTest).SelectMany(FindMissingContract));

    [Fact]
    public void Sources_OutsideTests_HaveOnePublicType() =>
        Repository.AssertNone(Ours().Where(static source => !source.IsTest).SelectMany(FindCrowded));

    [Fact]
    public void Sources_All_HaveAFileScopedNamespace() => Repository.AssertNone(Ours().SelectMany(FindBlockNamespace));

    [Fact]
    public void Sources_All_AreFinished() => Repository.AssertNone(Ours().SelectMany(FindUnfinished));

    [Fact]
    public void Tests_All_NeitherSleepNorAreSkipped() =>
        Repository.AssertNone(Ours().Where(static source => source.IsSuite).SelectMany(FindIdle));

    [Fact]
    public void GeneratedSources_Marker_IsThereAndNowhereElse() => Repository.AssertNone(Repository.Sources.SelectMany(FindWrongMarker));

    [Fact]
    public void Contract_PlantedWithout_IsFound()
    {
        Assert.Single(FindMissingContract(Planted("namespace A;\ninternal sealed class B;\n")));
        Assert.Empty(FindMissingContract(Planted("namespace A;\n/// <summary>It holds.</summary>\ninternal sealed class B;\n")));
        Assert.Empty(FindMissingContract(Planted("// Owns nothing.\nnamespace A;\ninternal sealed class B;\n")));
        Assert.Empty(FindMissingContract(Planted("using A;\nreturn 0;\n")));
    }

    [Fact]
    public void Crowd_Planted_IsFound()
    {
        Assert.Single(FindCrowded(Planted("namespace A;\npublic sealed class B;\npublic sealed class C;\n")));
        Assert.Empty(FindCrowded(Planted("namespace A;\npublic sealed class B;\npublic readonly record struct C(int D);\n")));
        Assert.Empty(FindCrowded(new SourceFile("CRA/AppFrames.cs", "namespace A;\npublic sealed class B;\npublic sealed class C;\n")));
        Assert.Single(FindBlockNamespace(Planted("namespace A { public sealed class B; }\n")));
        Assert.Empty(
            FindCrowded(
                Planted(
                    "namespace A;\npublic sealed class B { public sealed class Inner; }\ninternal sealed class C;\npublic enum D { E }\n")));
    }

    [Fact]
    public void Unfinished_Planted_IsFound()
    {
        Assert.Single(FindUnfinished(Planted($"// {s_unfinished[0]}: later\n")));
        Assert.Single(FindIdle(Planted("[Fact(Skip = \"x\")] void A() { }\n")));
        Assert.Single(FindIdle(Planted("void A() => Thread.Sleep(100);\n")));
        Assert.Single(FindIdle(Planted("Task A() => Task.Delay(100);\n")));
        Assert.Empty(FindIdle(Planted("Task A() => Task.Delay(TimeSpan.FromHours(1), time);\n")));
    }

    [Fact]
    public void Marker_Planted_IsFound()
    {
        string marker = "// <auto-" + "generated/>\n";
        Assert.Single(FindWrongMarker(new SourceFile("CRA/A.g.cs", "class A;\n")));
        Assert.Single(FindWrongMarker(new SourceFile("CRA/A.cs", marker)));
        Assert.Empty(FindWrongMarker(new SourceFile("CRA/A.g.cs", marker)));
    }

    private static IEnumerable<SourceFile> Ours() => Repository.Sources.Where(static source => !source.IsGenerated);

    private static SourceFile Planted(string text) => new("CRA/Planted.cs", text);

    /// <summary>
    /// The first type has a doc comment, or a comment stands above everything; a program of statements is its own contract.
    /// </summary>
    private static IEnumerable<string> FindMissingContract(SourceFile source)
    {
        if (source.Syntax.GetFirstToken(includeZeroWidth: true).LeadingTrivia.Any(IsComment)) yield break;
        if (TypesOf(source).FirstOrDefault() is { } first && !first.GetFirstToken().LeadingTrivia.Any(IsComment))
            yield return $"{source}: does not say what it owns, its invariant or its thread";
    }

    private static IEnumerable<string> FindCrowded(SourceFile source)
    {
        // Enums and values of a few lines that belong to the type beside them cost nobody a search; a seam's interfaces are one contract.
        if (source.IsOfAKind) yield break;
        int count = TypesOf(source).Count(static type => type is TypeDeclarationSyntax and not InterfaceDeclarationSyntax
            && type.Modifiers.Any(SyntaxKind.PublicKeyword) && !IsException(type)
            && !IsValueOfAFewLines(type) && !type.Modifiers.Any(SyntaxKind.PartialKeyword));
        if (count > 1) yield return $"{source}: {count} public types";
    }

    private static IEnumerable<string> FindBlockNamespace(SourceFile source) =>
        source.Syntax.Members.OfType<NamespaceDeclarationSyntax>()
            .Select(space => $"{source}: the namespace {space.Name} is not file-scoped");

    private static IEnumerable<string> FindUnfinished(SourceFile source) =>
        s_unfinished.Where(word => source.Text.Contains(word, StringComparison.Ordinal))
            .Select(word => $"{source}: unfinished by its own word {word}");

    private static IEnumerable<string> FindIdle(SourceFile source)
    {
        foreach (AttributeArgumentSyntax argument in source.Syntax.DescendantNodes().OfType<AttributeArgumentSyntax>())
        {
            if (argument.NameEquals?.Name.Identifier.Text == "Skip") yield return $"{source}: a test that is skipped";
        }

        foreach (InvocationExpressionSyntax call in source.Syntax.DescendantNodes().OfType<InvocationExpressionSyntax>())
        {
            string called = call.Expression.ToString();
            bool onRealTime = call.ArgumentList.Arguments.Count == 1;
            if (onRealTime && called is "Task.Delay" && IsLongWait(call)) yield return $"{source}: waits by sleeping: {call}";
            if (called is "Thread.Sleep" && IsLongWait(call) && !s_mayPause.ContainsKey(source.ToString()))
                yield return $"{source}: waits by sleeping: {call}";
        }
    }

    /// <summary>Sources that may let time pass, each with its reason.</summary>
    private static readonly Dictionary<string, string> s_mayPause = new()
    {
        ["tests/Ambrosia.EndToEnd.Tests/Processes/Chance.cs"] = "kills come at random moments: nothing is waited for, the moment itself is what is tested",
    };

    /// <summary>A poll with a deadline may pause for a moment between two looks: 20 ms at most.</summary>
    private static bool IsLongWait(InvocationExpressionSyntax call) =>
        !int.TryParse(call.ArgumentList.Arguments[0].ToString(), out int ms) || ms > 20;

    private static IEnumerable<string> FindWrongMarker(SourceFile source)
    {
        bool marked = source.Text.AsSpan(0, Math.Min(200, source.Text.Length)).Contains("<auto-" + "generated", StringComparison.Ordinal);
        if (marked && !source.IsGenerated) yield return $"{source}: says that it is generated; call it .g.cs";
        if (!marked && source.IsGenerated) yield return $"{source}: is called generated and does not begin with the marker";
    }

    private static IEnumerable<BaseTypeDeclarationSyntax> TypesOf(SourceFile source) =>
        source.Syntax.DescendantNodes(static node => node is CompilationUnitSyntax or BaseNamespaceDeclarationSyntax)
            .OfType<BaseTypeDeclarationSyntax>();

    private static bool IsException(BaseTypeDeclarationSyntax type) =>
        type.BaseList?.Types.Any(static each => each.Type.ToString().EndsWith("Exception", StringComparison.Ordinal)) == true;

    private static bool IsValueOfAFewLines(BaseTypeDeclarationSyntax type) =>
        type is RecordDeclarationSyntax && type.ToString().Count(static c => c == '\n') < ValueLinesMax;

    private static bool IsComment(SyntaxTrivia trivia) => trivia.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)
        || trivia.IsKind(SyntaxKind.SingleLineCommentTrivia) || trivia.IsKind(SyntaxKind.MultiLineCommentTrivia);
}
