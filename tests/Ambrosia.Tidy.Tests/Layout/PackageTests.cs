using System.Xml.Linq;

namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>Each package has one version and a reason, in one place; each project is in the solution.</summary>
public sealed class PackageTests
{
    private const string VersionsPath = "Directory.Packages.props";
    private const string SolutionPath = "Ambrosia.sln";

    [Fact]
    public void PackageVersions_All_HaveAReason() => Repository.AssertNone(FindWithoutReason(Repository.Read(VersionsPath)));

    [Fact]
    public void PackageVersions_Projects_StateNone() => Repository.AssertNone(
        Repository.Projects.SelectMany(static project => FindVersions(project.Path, Repository.Read(project.Path))));

    [Fact]
    public void PackageVersions_All_AreUsed() => Repository.AssertNone(
        XElement.Parse(Repository.Read(VersionsPath)).Descendants("PackageVersion")
            .Select(static version => (string)version.Attribute("Include")!)
            .Except(Repository.Projects.SelectMany(static project => project.Packages)
                .Concat(["Microsoft.CodeAnalysis.BannedApiAnalyzers", "Microsoft.CodeAnalysis.PublicApiAnalyzers"]))
            .Select(static name => $"{name}: nobody uses it"));

    [Fact]
    public void Solution_Projects_AreAllInIt() =>
        Repository.AssertNone(FindOutside(Repository.Read(SolutionPath), Repository.Projects.Select(static project => project.Path)));

    [Fact]
    public void Solution_PlantedProject_IsFound() => Assert.Single(FindOutside(@"x = ""A"", ""a\A.csproj""", ["a/A.csproj", "b/B.csproj"]));

    [Fact]
    public void PackageVersions_PlantedFaults_AreFound()
    {
        const string OneReason =
            "<Project><ItemGroup><!-- why --><PackageVersion Include='A' /></ItemGroup><ItemGroup><PackageVersion Include='B' /></ItemGroup></Project>";
        Assert.Equal(["B: no reason"], FindWithoutReason(OneReason));
        Assert.Single(FindVersions("a.csproj", "<Project><ItemGroup><PackageReference Include='A' Version='1' /></ItemGroup></Project>"));
    }

    /// <summary>A comment stands before it, or before its neighbours: packages that go together share one.</summary>
    private static IEnumerable<string> FindWithoutReason(string xml)
    {
        foreach (XElement group in XElement.Parse(xml).Elements("ItemGroup"))
        {
            bool reason = false;
            foreach (XNode node in group.Nodes())
            {
                if (node is XComment comment && !string.IsNullOrWhiteSpace(comment.Value)) reason = true;
                if (node is XElement { Name.LocalName: "PackageVersion" } version && !reason)
                    yield return $"{(string?)version.Attribute("Include")}: no reason";
            }
        }
    }

    private static IEnumerable<string> FindOutside(string solution, IEnumerable<string> projects)
    {
        string text = solution.Replace('\\', '/');
        return projects.Where(path => !text.Contains($"\"{path}\"", StringComparison.Ordinal))
            .Select(path => $"{path}: not in the solution; dotnet sln add it");
    }

    private static IEnumerable<string> FindVersions(string path, string xml) => XElement.Parse(xml).Descendants("PackageReference")
        .Where(static reference => reference.Attribute("Version") is not null || reference.Attribute("VersionOverride") is not null)
        .Select(reference => $"{path}: states the version of {(string?)reference.Attribute("Include")}");
}
