using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// A type of the product has a dozen fields at most and its constructors six parameters; who needs more is several modules, or says why.
/// Records, options and settings are values: they have as many parts as the thing that they describe.
/// </summary>
public sealed class WidthTests
{
    private const int FieldsMax = 12;
    private const int ParametersMax = 6;

    /// <summary>"project/type" → the reason for more fields. Short; an entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_mayHoldMore = new()
    {
        ["Ambrosia.Coordinator/Coordinator"] = "each field is a module: this is the one place where they are made and connected",
        ["Ambrosia.Coordinator/CoordinatorHost"] = "each field ends with the process: this is the one place where it begins and ends",
        ["Ambrosia.Coordinator/Delivery"] = "one pass over the log's pages; a split would put calls between page and frame",
        ["CRA/LinkListener"] = "one loop over its sockets; a split would put calls between poll and accept",
        ["Ambrosia.Log/LogWriter"] = "the positions of one log and the parts that move them; a split would spread their invariants",
        ["Ambrosia/ImageRoot"] = "its fields are data: their names stand in images",
    };

    /// <summary>"project/type" → the reason for more parameters.</summary>
    private static readonly Dictionary<string, string> s_mayTakeMore = new()
    {
    };

    [Fact]
    public void Fields_EachType_AreADozenAtMost() =>
        Repository.AssertNone(Unexcused(FindWide(Repository.Product), s_mayHoldMore));

    [Fact]
    public void Parameters_EachConstructor_AreSixAtMost() =>
        Repository.AssertNone(Unexcused(FindDemanding(Repository.Product), s_mayTakeMore));

    [Fact]
    public void Excuses_AllOfThem_AreStillNeeded() => Repository.AssertNone(
        FindNeedless(FindWide(Repository.Product), s_mayHoldMore).Concat(FindNeedless(FindDemanding(Repository.Product), s_mayTakeMore)));

    [Fact]
    public void Fields_Planted_AreFound()
    {
        Assert.Equal(["CRA/A has 13 fields, 12 at most"], Wide($"class A {{ {Fields(10)} int K {{ get; }} int L {{ get; init; }} event X M; }}"));
        Assert.Equal(["CRA/A has 13 fields, 12 at most"], Wide($"class A(int a) {{ {Fields(12)} int M() => a; }}"));
        Assert.Equal(["CRA/A has 13 fields, 12 at most"], Wide($"partial class A {{ {Fields(12)} }}", "partial class A { int n; }"));
    }

    [Fact]
    public void Fields_ThatAreNotKept_AreNotCounted()
    {
        const string Statics = "const int N = 1; static int s; int Q => 1; int R { get => 1; }";
        Assert.Empty(Wide($"class A(int a) {{ {Fields(12)} {Statics} int P {{ get => 1; }} }}"));
        Assert.Empty(Wide($"class A(int a) {{ {Fields(11)} int _a = a; }}", $"record B({Parameters(20)});"));
        Assert.Empty(Wide($"class AOptions {{ {Fields(20)} }}", $"class A {{ class B {{ {Fields(12)} }} int _b; }}"));
    }

    [Fact]
    public void Parameters_Planted_AreFound()
    {
        Assert.Single(FindDemanding([Planted($"class A {{ public A({Parameters(7)}) {{ }} }}")]));
        Assert.Single(FindDemanding([Planted($"class A({Parameters(7)});")]));
        Assert.Empty(FindDemanding([Planted($"class A({Parameters(6)});"), Planted($"record B({Parameters(7)});")]));
    }

    [Fact]
    public void Excuse_PlantedThatNobodyNeeds_IsFound() =>
        Assert.Equal(["CRA/None: needs no excuse any more"], FindNeedless([], new() { ["CRA/None"] = "" }));

    private static IEnumerable<(string Key, Finding What)> FindWide(IEnumerable<SourceFile> sources) =>
        from declaration in Classes(sources)
        group declaration by declaration.Key into type
        let fields = type.Sum(static declaration => TypeWidth.FieldsOf(declaration.Type))
        where fields > FieldsMax
        select (type.Key, new Finding(type.First().Source.Path, $"{type.Key} has {fields} fields, {FieldsMax} at most"));

    private static IEnumerable<(string Key, Finding What)> FindDemanding(IEnumerable<SourceFile> sources) =>
        from declaration in Classes(sources)
        let parameters = TypeWidth.ParametersOf(declaration.Type)
        where parameters > ParametersMax
        select (declaration.Key,
            new Finding(declaration.Source.Path, $"{declaration.Key} is made of {parameters} things, {ParametersMax} at most"));

    private static IEnumerable<(string Key, TypeDeclarationSyntax Type, SourceFile Source)> Classes(IEnumerable<SourceFile> sources) =>
        from source in sources
        from type in source.Syntax.DescendantNodes().OfType<TypeDeclarationSyntax>()
        where !IsValue(type)
        select ($"{Repository.OwnerOf(source.Path)}/{NameOf(type)}", type, source);

    private static bool IsValue(TypeDeclarationSyntax type) =>
        type is RecordDeclarationSyntax || type.Modifiers.Any(SyntaxKind.StaticKeyword)
        || type.Identifier.Text.EndsWith("Options", StringComparison.Ordinal)
        || type.Identifier.Text.EndsWith("Settings", StringComparison.Ordinal);

    private static string NameOf(TypeDeclarationSyntax type) => string.Join('.',
        type.AncestorsAndSelf().OfType<TypeDeclarationSyntax>().Reverse().Select(static each => each.Identifier.Text));

    private static IEnumerable<Finding> Unexcused(IEnumerable<(string Key, Finding What)> found, Dictionary<string, string> excuses) =>
        found.Where(each => !excuses.ContainsKey(each.Key)).Select(static each => each.What);

    private static IEnumerable<string> FindNeedless(IEnumerable<(string Key, Finding What)> found, Dictionary<string, string> excuses) =>
        excuses.Keys.Except(found.Select(static each => each.Key)).Select(static key => $"{key}: needs no excuse any more");

    private static IEnumerable<string> Wide(params string[] texts) =>
        FindWide(texts.Select(Planted)).Select(static found => found.What.What);

    private static SourceFile Planted(string text) => new("CRA/Planted.cs", text);

    private static string Fields(int count) => string.Concat(Enumerable.Range(0, count).Select(static each => $"int f{each}; "));

    private static string Parameters(int count) => string.Join(", ", Enumerable.Range(0, count).Select(static each => $"int p{each}"));
}
