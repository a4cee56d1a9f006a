using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The build step writes what the app's build is, and the file goes where the app goes, so that an app need not read its own code when it
/// starts.
/// </summary>
public sealed class BuildFileTests
{
    [Fact]
    public void BuildFile_BesideTheApp_IsOfTheAssembliesThere()
    {
        string folder = AppContext.BaseDirectory;
        using JsonDocument document = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(folder, "Ambrosia.EndToEnd.App.build.json")));
        Dictionary<string, Guid> stated = document.RootElement.GetProperty("assemblies").EnumerateArray()
            .ToDictionary(static each => each.GetProperty("name").GetString()!, static each => each.GetProperty("mvid").GetGuid());
        Assert.Superset(new HashSet<string> { "Ambrosia.EndToEnd.App.dll", "Ambrosia.dll", "CRA.dll" }, stated.Keys.ToHashSet());
        Assert.All(stated, each => Assert.Equal(MvidOf(Path.Combine(folder, each.Key)), each.Value));
        Assert.Contains("IBank.Deposit", document.RootElement.GetProperty("methods").ToString(), StringComparison.Ordinal);
    }

    private static Guid MvidOf(string path)
    {
        using FileStream file = File.OpenRead(path);
        using var image = new PEReader(file);
        MetadataReader metadata = image.GetMetadataReader();
        return metadata.GetGuid(metadata.GetModuleDefinition().Mvid);
    }
}
