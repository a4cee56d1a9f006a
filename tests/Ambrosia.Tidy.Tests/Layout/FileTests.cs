namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// A file of the product can be read by itself: it is named after a type in it, and it is neither a crumb nor a scroll. What only one type
/// uses shares that type's file; a public type has a file of its own, so that it is found by its name. Small types of one kind, such as the
/// frames of one conversation, share a file that is named after the kind.
/// </summary>
public sealed class FileTests
{
    private const int CrumbLinesMax = 12;
    private const int LinesMax = 400;

    [Fact]
    public void Files_OfTwelveLines_DeclarePublicTypes() => Repository.AssertNone(FindCrumbs(Repository.Product));

    [Fact]
    public void Files_OfTheProduct_AreNamedAfterATypeInThem() => Repository.AssertNone(FindMisnamed(Repository.Product));

    [Fact]
    public void Files_OfTheProduct_HaveFourHundredLinesAtMost() => Repository.AssertNone(FindLong(Repository.Product));

    [Fact]
    public void Files_PlantedCrumb_IsFound()
    {
        Assert.Single(FindCrumbs([Planted("A", "namespace A;\ninternal sealed class A;\n")]));
        Assert.Empty(FindCrumbs([Planted("A", "namespace A;\npublic sealed class A;\n")]));
        Assert.Empty(FindCrumbs([Planted("A", $"namespace A;\n{Lines(CrumbLinesMax)}internal sealed class A;\n")]));
        Assert.Empty(FindCrumbs([Planted("A", "namespace System.Runtime;\ninternal sealed class A;\n")]));
        Assert.Empty(FindCrumbs([Planted("AssemblyInfo", "[assembly: A]\n")]));
    }

    [Fact]
    public void Files_PlantedName_IsFound()
    {
        Assert.Single(FindMisnamed([Planted("A", "class B; class C;\n")]));
        Assert.Empty(FindMisnamed([
            Planted("A", "class B; class A<T>;\n"), Planted("AOfT", "class A<T>;\n"), Planted("A.Reading", "partial class A;\n"),
            Planted("ReadExceptions", "class EndException; class GapException;\n"), Planted("Program", "return 0;\n")]));
    }

    [Fact]
    public void Files_PlantedLength_IsFound()
    {
        Assert.Single(FindLong([Planted("A", Lines(LinesMax + 1))]));
        Assert.Empty(FindLong([Planted("A", Lines(LinesMax))]));
    }

    /// <summary>What stands in a namespace of the framework, the compiler looks for by its name; it belongs to no type of ours.</summary>
    private static IEnumerable<Finding> FindCrumbs(IEnumerable<SourceFile> sources) =>
        from source in sources
        where source.LineCount <= CrumbLinesMax && source.Types.Any()
            && !source.Types.Any(static type => type.IsPublic || type.Namespace.StartsWith("System.", StringComparison.Ordinal))
        select new Finding(source.Path, $"{source.LineCount} lines without a public type: they belong to whoever uses them");

    private static IEnumerable<Finding> FindMisnamed(IEnumerable<SourceFile> sources) =>
        from source in sources
        let name = Path.GetFileName(source.Path).Split('.')[0]
        where source.Types.Any() && !source.Types.Any(type => IsNamedAfter(type, name)) && !source.IsOfAKind
        select new Finding(source.Path, $"declares no type {name}, but {string.Join(", ", source.Types.Select(static type => type.Name))}");

    /// <summary>The file of a generic type beside another of its name says of what it is: CallOfT.</summary>
    private static bool IsNamedAfter(DeclaredType type, string name) =>
        name == type.Name || (type.Arity > 0 && name.StartsWith($"{type.Name}Of", StringComparison.Ordinal));

    private static IEnumerable<Finding> FindLong(IEnumerable<SourceFile> sources) =>
        from source in sources
        where source.LineCount > LinesMax
        select new Finding(source.Path, $"{source.LineCount} lines, {LinesMax} at most");

    private static SourceFile Planted(string name, string text) => new($"CRA/{name}.cs", text);

    private static string Lines(int count) => string.Concat(Enumerable.Repeat("// one\n", count));
}
