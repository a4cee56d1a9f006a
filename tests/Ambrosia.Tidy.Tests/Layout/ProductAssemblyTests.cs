namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// A build counts the product's own assemblies as one thing, by a list of their names: a library that is missing there would be taken for
/// the app's.
/// </summary>
public sealed class ProductAssemblyTests
{
    private const string List = "bindings/csharp/Ambrosia/Builds/BuildReader.cs";

    private static readonly string[] s_folders = ["bindings/csharp/", "protocol/", "CRA/", "ImmortalCoordinator/"];

    [Fact]
    public void Libraries_ThatAnAppCanHave_AreListed() =>
        Repository.AssertNone(FindMissing(Repository.Projects.Select(static project => project.Path), Repository.Read(List)));

    [Fact]
    public void Library_PlantedOutsideOfTheList_IsFound() => Assert.Equal(
        ["CRA/B.csproj: B is not in bindings/csharp/Ambrosia/Builds/BuildReader.cs"],
        FindMissing(["CRA/A.csproj", "CRA/B.csproj", "tests/C/C.csproj"], "[\"A\"]").Select(static found => found.ToString()));

    private static IEnumerable<Finding> FindMissing(IEnumerable<string> projects, string list) =>
        from path in projects
        where s_folders.Any(folder => path.StartsWith(folder, StringComparison.Ordinal))
        let name = Path.GetFileNameWithoutExtension(path)
        where !list.Contains($"\"{name}\"", StringComparison.Ordinal)
        select new Finding(path, $"{name} is not in {List}");
}
