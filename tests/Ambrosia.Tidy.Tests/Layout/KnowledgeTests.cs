namespace Ambrosia.Tidy.Tests.Layout;

public sealed class KnowledgeTests
{
    [Fact]
    public void Projects_References_AreThoseAllowed() => Repository.AssertNone(Repository.Projects.SelectMany(KnowledgeRules.OfProject));

    [Fact]
    public void Sources_Usings_AreThoseAllowed() =>
        Repository.AssertNone(Repository.Sources.SelectMany(static source => KnowledgeRules.OfSource(source, Repository.Projects)));

    [Theory]
    [InlineData("protocol/Ambrosia.Protocol/Ambrosia.Protocol.csproj", "<PackageReference Include='Some' />")]
    [InlineData("CRA/CRA.csproj", "<ProjectReference Include='../ImmortalCoordinator/Ambrosia.Log/Ambrosia.Log.csproj' />")]
    [InlineData("bindings/csharp/Ambrosia/Ambrosia.csproj", "<ProjectReference Include='..\\..\\..\\CRA\\CRA.csproj' />")]
    [InlineData("tools/Newcomer/Newcomer.csproj", "")]
    public void Project_PlantedReference_IsFound(string path, string item) =>
        Assert.Single(KnowledgeRules.OfProject(ProjectFile.Parse(path, $"<Project><ItemGroup>{item}</ItemGroup></Project>")));

    [Fact]
    public void Project_ReferenceThatOnlyRunsTheCompiler_IsNotKnowledge() => Assert.Empty(KnowledgeRules.OfProject(ProjectFile.Parse(
        "bindings/csharp/Ambrosia/Ambrosia.csproj",
        "<Project><ProjectReference Include='a/Ambrosia.Generators.csproj' OutputItemType='Analyzer' ReferenceOutputAssembly='false' /></Project>")));

    [Theory]
    [InlineData("protocol/Ambrosia.Protocol/X.cs", "using System.IO;")]
    [InlineData("ImmortalCoordinator/Ambrosia.Log/X.cs", "using System.Net.Sockets;")]
    [InlineData("ImmortalCoordinator/Ambrosia.Log/X.cs", "using Ambrosia.Coordinator;")]
    [InlineData("bindings/csharp/Ambrosia/X.cs", "using static CRA.Backoff;")]
    public void Source_PlantedUsing_IsFound(string path, string text) =>
        Assert.Single(KnowledgeRules.OfSource(new SourceFile(path, text), Repository.Projects));
}
