using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// docs/public-surface.md lists under the name of each library every type that is public, with the reason: what is not listed is internal,
/// and what is listed is public.
/// </summary>
public sealed partial class PublicSurfaceTests
{
    private const string DocumentPath = "docs/public-surface.md";

    private sealed record Listed(string Project, string Type, string Reason);

    [Fact]
    public void Surface_EachLibrary_IsTheOneListed() =>
        Repository.AssertNone(FindDifferences(Read(Repository.Read(DocumentPath)), PublicTypes(Repository.Product)));

    [Fact]
    public void Surface_PlantedDifferences_AreFound()
    {
        IEnumerable<Listed> listed = Read("# Surface\n\n## CRA\n\n| Type | Why |\n|---|---|\n| `A` | users make it |\n| `B<T>` | |\n| `Gone` | none |\n");
        SourceFile source = new("CRA/A.cs", """
            public class A { public class Inner; } public delegate void B<T>(); public partial class New; partial class New; class C;
            """);
        Assert.Equal(["CRA/A.cs: CRA does not list New", "CRA/CRA.csproj: lists Gone, which is not public there",
            "CRA/CRA.csproj: gives no reason for B<T>"],
            FindDifferences(listed, PublicTypes([source])).Select(static found => found.ToString()));
    }

    private static IEnumerable<Finding> FindDifferences(
        IEnumerable<Listed> listed, IEnumerable<(string Project, string Type, string Path)> types)
    {
        HashSet<(string, string)> inList = [.. listed.Select(static each => (each.Project, each.Type))];
        HashSet<(string, string)> inCode = [.. types.Select(static each => (each.Project, each.Type))];
        return types.Where(each => !inList.Contains((each.Project, each.Type)))
            .Select(static each => new Finding(each.Path, $"{each.Project} does not list {each.Type}"))
            .Concat(listed.Where(each => !inCode.Contains((each.Project, each.Type)))
                .Select(static each => new Finding(PathOf(each.Project), $"lists {each.Type}, which is not public there")))
            .Concat(listed.Where(static each => each.Reason.Length == 0)
                .Select(static each => new Finding(PathOf(each.Project), $"gives no reason for {each.Type}")));
    }

    private static string PathOf(string project) =>
        Repository.Projects.FirstOrDefault(each => each.Name == project)?.Path ?? project;

    private static IEnumerable<(string Project, string Type, string Path)> PublicTypes(IEnumerable<SourceFile> sources) =>
        (from source in sources
         from type in source.Types
         where type.IsPublic
         select (Repository.OwnerOf(source.Path), type.Display, source.Path)).DistinctBy(static each => (each.Item1, each.Display));

    private static IEnumerable<Listed> Read(string document)
    {
        string project = "";
        foreach (string line in document.Split('\n'))
        {
            if (Heading().Match(line) is { Success: true } heading) project = heading.Groups["project"].Value;
            else if (Row().Match(line) is { Success: true } row)
                yield return new Listed(project, row.Groups["type"].Value, row.Groups["reason"].Value.Trim());
        }
    }

    [GeneratedRegex(@"^## (?<project>\S+)")]
    private static partial Regex Heading();

    [GeneratedRegex(@"^\|\s*`(?<type>[^`]+)`\s*\|(?<reason>[^|]*)\|")]
    private static partial Regex Row();
}
