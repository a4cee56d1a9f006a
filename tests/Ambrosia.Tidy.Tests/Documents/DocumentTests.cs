using System.Text.RegularExpressions;

namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>
/// Documents tell of what exists: the files that they name, the commands of the front page; and their tables are whole.
/// </summary>
public sealed partial class DocumentTests
{
    private const string ArchitecturePath = "docs/architecture.md";

    [Fact]
    public void Architecture_FilesNamed_AreThere() =>
        Repository.AssertNone(FindMissingFiles(ArchitecturePath, ReadDocument(ArchitecturePath), Repository.Has));

    [Fact]
    public void Documents_Links_LeadSomewhere() => Repository.AssertNone(
        Repository.Files.Where(static path => path.EndsWith(".md", StringComparison.Ordinal))
            .SelectMany(static path => FindDeadLinks(path, Repository.Read(path))));

    /// <summary>A row that a script has cut in two, or code that has come into a document with it, once went unnoticed.</summary>
    [Fact]
    public void Documents_RowsOfTables_AreWhole() => Repository.AssertNone(
        Repository.Files.Where(static path => path.EndsWith(".md", StringComparison.Ordinal))
            .SelectMany(static path => FindTornRows(path, Repository.Read(path))));

    [Fact]
    public void Readme_Commands_ExistAndRun()
    {
        string readme = ReadDocument("README.md");
        string[] scripts = [.. CommandOfAScript().Matches(readme).Select(static command => command.Groups["path"].Value).Distinct()];
        string[] projects = [.. CommandOfAProject().Matches(readme).Select(static command => command.Groups["path"].Value).Distinct()];
        Assert.True(scripts.Length + projects.Length >= 2, "README.md shows two commands: one that tests, one that runs a sample");
        Repository.AssertNone(
            scripts.Concat(projects).Where(static path => !Repository.Has(path)).Select(static path => $"README.md: {path} is not there"));
        Repository.AssertNone(scripts.Where(static path => !IsExecutable(path)).Select(static path => $"README.md: {path} has no run bit"));
    }

    [Theory]
    [InlineData("test.sh")]
    [InlineData(".ci/run")]
    [InlineData("packaging/pack")]
    public void Script_OfTheRepository_CanBeRun(string path) => Assert.True(IsExecutable(path), $"{path} is missing or has no run bit");

    [Fact]
    public void Documents_PlantedFaults_AreFound()
    {
        Assert.Equal(["a.md: CRA/None.cs is not there"],
            FindMissingFiles("a.md", "see `CRA/None.cs` and `CRA/CRA.csproj`", static path => path == "CRA/CRA.csproj"));
        Assert.Equal(["a.md:2: a row of a table ends without |"], FindTornRows("a.md", "| a | b |\n| a | b\n```\n| code\n```"));
        Assert.Single(FindDeadLinks("docs/a.md", "[x](none.md) [y](https://example.org) [z](#here) [p](protocol.md#p1)"));
    }

    private static string ReadDocument(string path)
    {
        Assert.True(Repository.Has(path), $"{path} is missing");
        return Repository.Read(path);
    }

    /// <summary>
    /// Whatever stands in backticks with a folder and looks like a path of ours; the folder of another name in the same
    /// document may be left out.
    /// </summary>
    private static IEnumerable<string> FindMissingFiles(string document, string text, Func<string, bool> exists)
    {
        string[] named = [.. NamedPath().Matches(text).Select(static match => match.Groups["path"].Value).Distinct()];
        string[] folders = [.. named.Where(exists).Select(static path => Path.GetDirectoryName(path) ?? "").SelectMany(Above).Distinct()];
        return named.Where(path => !exists(path) && !folders.Any(folder => exists($"{folder}/{path}")))
            .Select(path => $"{document}: {path} is not there");
    }

    private static IEnumerable<string> Above(string folder)
    {
        for (string? at = folder; !string.IsNullOrEmpty(at); at = Path.GetDirectoryName(at)) yield return at;
    }

    private static IEnumerable<string> FindTornRows(string document, string text)
    {
        bool isCode = false;
        foreach ((int index, string line) in text.Split('\n').Index())
        {
            if (line.StartsWith("```", StringComparison.Ordinal)) isCode = !isCode;
            else if (!isCode && line.StartsWith('|') && !line.TrimEnd().EndsWith('|'))
                yield return $"{document}:{index + 1}: a row of a table ends without |";
        }
    }

    private static IEnumerable<string> FindDeadLinks(string document, string text)
    {
        string folder = Path.GetDirectoryName(document) ?? "";
        foreach (Match link in Link().Matches(text))
        {
            string target = link.Groups["target"].Value.Split('#')[0];
            if (target.Length == 0 || target.Contains("://", StringComparison.Ordinal)
                || target.StartsWith("mailto:", StringComparison.Ordinal)) continue;
            if (!Repository.Has(Path.Join(folder, target))) yield return $"{document}: the link to {target} leads nowhere";
        }
    }

    private static bool IsExecutable(string path) =>
        Repository.Has(path)
        && (OperatingSystem.IsWindows() || File.GetUnixFileMode(Path.Join(Repository.Root, path)).HasFlag(UnixFileMode.UserExecute));

    [GeneratedRegex(@"`(?<path>[A-Za-z0-9_.\-]+/[A-Za-z0-9_./\-]*)`")]
    private static partial Regex NamedPath();

    [GeneratedRegex(@"\[[^\]]*\]\((?<target>[^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"^\s*(?:\$ )?\./(?<path>[A-Za-z0-9_./\-]+)", RegexOptions.Multiline)]
    private static partial Regex CommandOfAScript();

    [GeneratedRegex(@"dotnet run [^\n]*--project (?<path>[A-Za-z0-9_./\-]+)")]
    private static partial Regex CommandOfAProject();
}
