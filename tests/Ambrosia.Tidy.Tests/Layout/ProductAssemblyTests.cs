namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// A build counts the product's own assemblies as one thing, by a list of their names: a library that is missing there would be taken for
/// the app's.
/// </summary>
public sealed class ProductAssemblyTests
{
    private const string List = "bindings/csharp/Ambrosia/Builds/BuildReader.cs";

    private static readonly string[] s_folders = ["bindings/csharp/", "protocol/", "CRA/", "ImmortalCoordinator/", "stores/Ambrosia.Stores.Azure/"];

    [Fact]
    public void Libraries_ThatAnAppCanHave_AreListed() =>
        Repository.AssertNone(FindMissing(Repository.Projects, Repository.Read(List)));

    [Fact]
    public void Library_PlantedOutsideOfTheList_IsFound() => Assert.Equal(
        ["CRA/B.csproj: B is not in bindings/csharp/Ambrosia/Builds/BuildReader.cs",
            "CRA/A.csproj: D is not in bindings/csharp/Ambrosia/Builds/BuildReader.cs"],
        FindMissing([Planted("CRA/A.csproj", "D"), Planted("CRA/B.csproj"), Planted("tests/C/C.csproj")], "[\"A\"]")
            .Select(static found => found.ToString()).Order(StringComparer.Ordinal).Reverse());

    /// <summary>
    /// What is not optimised is the user's own code to a debugger, whose step from the stop of a view would then end in ours, where an app
    /// refers to our projects.
    /// </summary>
    [Theory]
    [InlineData("bindings/csharp/Ambrosia", "true")]
    [InlineData("protocol/Ambrosia.Protocol", "true")]
    [InlineData("samples/Counter", "false")]
    public void Libraries_OfADebugBuild_AreOptimised(string project, string optimize) => Assert.Equal(
        optimize, DotNetCommand.Run(Path.Join(Repository.Root, project), "msbuild", "-getProperty:Optimize", "-p:Configuration=Debug").Trim());

    /// <summary>What stands elsewhere comes with those that refer to it.</summary>
    private static IEnumerable<Finding> FindMissing(IEnumerable<ProjectFile> projects, string list) =>
        from project in projects
        where s_folders.Any(folder => project.Path.StartsWith(folder, StringComparison.Ordinal))
        from name in project.References.Prepend(project.Name)
        where !list.Contains($"\"{name}\"", StringComparison.Ordinal)
        select new Finding(project.Path, $"{name} is not in {List}");

    private static ProjectFile Planted(string path, params string[] references) => ProjectFile.Parse(
        path, $"<Project>{string.Concat(references.Select(static name => $"<ProjectReference Include='../{name}/{name}.csproj' />"))}</Project>");
}
