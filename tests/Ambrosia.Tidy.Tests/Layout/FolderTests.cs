namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>A folder is a subject with a namespace of its own, and knows only the folders below it.</summary>
public sealed class FolderTests
{
    private static readonly ProjectFile s_planted = ProjectFile.Parse("x/Planted/Planted.csproj", "<Project />");

    [Fact]
    public void Folders_EachProduct_KnowOnlyThoseBelow() =>
        Repository.AssertNone(Judged().SelectMany(static rules => rules.Rules.FindUpward()));

    [Fact]
    public void Folders_EachProduct_AreListed() => Repository.AssertNone(
        Judged().SelectMany(static rules => rules.Rules.FindUnlisted())
            .Concat(FolderOrder.Projects.Except(Judged().Select(static rules => rules.Project.Name))
                .Select(static name => new Finding(name, $"{nameof(FolderOrder)} lists it, and there is no such project"))));

    [Fact]
    public void Namespaces_EachSource_AreThoseOfTheirFolders() => Repository.AssertNone(
        Judged().SelectMany(static rules => rules.Rules.FindStrayNamespaces(source => FolderOrder.MayStayInRoot(rules.Project, source))));

    [Fact]
    public void Order_PlantedCycle_IsFound()
    {
        SourceFile low = Planted("Low/A.cs", "namespace Planted.Low; using Planted.High; class A { B? b; }");
        SourceFile high = Planted("High/B.cs", "using Planted.Low; namespace Planted.High; class B { A? a; }");
        Assert.Equal(["x/Planted/Low/A.cs: mentions B of the folder High, which stands above Low"], Upward(["Low", "High"], low, high));
        Assert.Equal(["x/Planted/High/B.cs: mentions A of the folder Low, which stands above High"], Upward(["High", "Low"], low, high));
    }

    [Theory]
    [InlineData("class A : B;")]
    [InlineData("[B] class A;")]
    [InlineData("class A { object x = new Planted.High.B(); }")]
    [InlineData("class A { object x = new High.B(); }")]
    [InlineData("class A { int X() => B.Count; }")]
    [InlineData("class A { bool X(object o) => o is B; }")]
    [InlineData("class A { List<B[]> x; }")]
    [InlineData("class A { int X(object o) => o switch { B => 1, _ => 0 }; }")]
    [InlineData("class A { string x = nameof(B); }")]
    public void Order_PlantedMention_IsFound(string mention) =>
        Assert.Single(Upward(["Low", "High"], Planted("Low/A.cs", $"using Planted.High; namespace Planted.Low; {mention}"), HighB()));

    [Theory]
    [InlineData("/// <summary>See <see cref=\"B\"/>.</summary>\nclass A; // B")]
    [InlineData("class A { int B() => 0; int X() => B(); }")]
    [InlineData("class A { int X(C c) => c.B; }")]
    [InlineData("class A { C B { get; } int X() => B.Count; }")]
    [InlineData("class A { object x = new C { B = 1 }; }")]
    [InlineData("class B; class A { B? b; }")]
    [InlineData("class A { string x = \"B\"; }")]
    public void Order_NameThatIsNoTypeOfAnotherFolder_IsNot(string mention) =>
        Assert.Empty(Upward(["Low", "High"], Planted("Low/A.cs", $"using Planted.High; namespace Planted.Low; {mention}"), HighB()));

    [Fact]
    public void Order_TypeInTheRootNamespaceOfAnotherFolder_IsFound() => Assert.Single(Upward(["Low", "High"],
        Planted("Low/A.cs", "namespace Planted.Low; class A { B? b; }"), Planted("High/B.cs", "namespace Planted; public class B;")));

    [Fact]
    public void Order_RootAndSubFolder_AreFoldersOfTheirOwn()
    {
        SourceFile root = Planted("R.cs", "namespace Planted; class R;");
        SourceFile inner = Planted("Low/Inner/I.cs", "namespace Planted.Low.Inner; class I { R? r; }");
        Assert.Single(Upward(["Low/Inner", "."], root, inner));
        Assert.Empty(Upward([".", "Low/Inner"], root, inner));
    }

    [Fact]
    public void List_PlantedFolderAndEntry_AreFound() => Assert.Equal(
        ["x/Planted/Planted.csproj: its folder High is not in FolderOrder",
            "x/Planted/Planted.csproj: FolderOrder lists the folder Low, which has no sources"],
        new FolderRules(s_planted, ["Low"], [HighB()]).FindUnlisted().Select(static found => found.ToString()));

    [Fact]
    public void Namespace_PlantedStray_IsFoundWhereItMayNotStayInTheRoot()
    {
        FolderRules rules = new(s_planted, ["High"], [HighB(), Planted("High/C.cs", "namespace Planted; class C;")]);
        Assert.Equal(["x/Planted/High/C.cs: its namespace is Planted, its folder's is Planted.High"],
            rules.FindStrayNamespaces(static _ => false).Select(static found => found.ToString()));
        Assert.Empty(rules.FindStrayNamespaces(static _ => true));
    }

    private static IEnumerable<(ProjectFile Project, FolderRules Rules)> Judged() =>
        from source in Repository.Product
        group source by Repository.ProjectOf(source.Path) into each
        where each.Key is not null
        select (each.Key, new FolderRules(each.Key, FolderOrder.Of(each.Key), [.. each]));

    private static string[] Upward(string[] order, params SourceFile[] sources) =>
        [.. new FolderRules(s_planted, order, sources).FindUpward().Select(static found => found.ToString())];

    private static SourceFile HighB() => Planted("High/B.cs", "namespace Planted.High; class B;");

    private static SourceFile Planted(string path, string text) => new($"x/Planted/{path}", text);
}
