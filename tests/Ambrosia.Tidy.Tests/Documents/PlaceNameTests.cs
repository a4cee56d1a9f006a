namespace Ambrosia.Tidy.Tests.Documents;

/// <summary>A clone works anywhere: no name of a machine, a mirror or a folder outside the repository in any file.</summary>
public sealed class PlaceNameTests
{
    /// <summary>Put together here so that this file does not find itself.</summary>
    private static readonly string[] s_names = ["/wo" + "rk/", "../sha" + "red/", ".lib" + "rary/", "/ro" + "ot/", "/ho" + "me/",
        "/Us" + "ers/", "C:\\" + "Users"];

    [Fact]
    public void Files_Repository_NameNoMachine() =>
        Repository.AssertNone(Repository.TextFiles.SelectMany(static path => Find(path, Repository.Read(path))));

    [Fact]
    public void PackageSources_Repository_AreTheDefaultOnes() =>
        Repository.AssertNone(
            Repository.Files.Where(static path => Path.GetFileName(path).Equals("nuget.config", StringComparison.OrdinalIgnoreCase)
                || Path.GetFileName(path) is ".npmrc" or "pip.conf"));

    [Fact]
    public void Files_PlantedName_IsFound() => Assert.Equal(["a.md:2: " + s_names[0]], Find("a.md", $"fine\nsee {s_names[0]}main\n"));

    private static IEnumerable<string> Find(string path, string text)
    {
        string[] lines = text.Split('\n');
        for (int i = 0; i < lines.Length; i++)
        {
            foreach (string name in s_names)
            {
                if (lines[i].Contains(name, StringComparison.Ordinal)) yield return $"{path}:{i + 1}: {name}";
            }
        }
    }
}
