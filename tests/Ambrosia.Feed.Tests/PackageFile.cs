using System.IO.Compression;
using System.Xml.Linq;

namespace Ambrosia.Feed.Tests;

/// <summary>One package as it lies in the feed.</summary>
internal sealed class PackageFile
{
    private PackageFile(string path, XElement metadata, IReadOnlyDictionary<string, byte[]> entries)
    {
        Path = path;
        Entries = entries;
        Id = Value(metadata, "id");
        Version = Value(metadata, "version");
        License = Value(metadata, "license");
        Readme = Value(metadata, "readme");
        Types = [.. metadata.Descendants().Where(static each => each.Name.LocalName == "packageType")
            .Select(static each => (string)each.Attribute("name")!)];
        Dependencies = [.. metadata.Descendants().Where(static each => each.Name.LocalName == "dependency")
            .Select(static each => ((string)each.Attribute("id")!, (string)each.Attribute("version")!))];
    }

    public string Path { get; }

    /// <summary>What is in it, unpacked, by path.</summary>
    public IReadOnlyDictionary<string, byte[]> Entries { get; }

    public string Id { get; }

    public string Version { get; }

    public string License { get; }

    public string Readme { get; }

    /// <summary>Empty for a library.</summary>
    public IReadOnlyList<string> Types { get; }

    public IReadOnlyList<(string Id, string Version)> Dependencies { get; }

    public static PackageFile Read(string path)
    {
        using ZipArchive archive = ZipFile.OpenRead(path);
        Dictionary<string, byte[]> entries = archive.Entries.ToDictionary(static entry => entry.FullName, static entry =>
        {
            using var content = new MemoryStream();
            using Stream from = entry.Open();
            from.CopyTo(content);
            return content.ToArray();
        });
        using var nuspec = new MemoryStream(entries.Single(static entry => entry.Key.EndsWith(".nuspec", StringComparison.Ordinal)).Value);
        return new PackageFile(path, XElement.Load(nuspec).Elements().First(), entries);
    }

    public override string ToString() => System.IO.Path.GetFileName(Path);

    private static string Value(XElement metadata, string name) =>
        (string?)metadata.Elements().FirstOrDefault(each => each.Name.LocalName == name) ?? "";
}
