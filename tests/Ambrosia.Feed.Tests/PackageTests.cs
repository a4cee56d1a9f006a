using System.Text;
using System.Xml.Linq;

namespace Ambrosia.Feed.Tests;

/// <summary>Looks into the packages themselves.</summary>
[Collection(FeedCollection.Name)]
public sealed class PackageTests(Feed feed)
{
    private readonly PackageFile[] _packages = ReadAll(feed.Packages, "*.nupkg");

    [Fact]
    public void Packages_ThatAreDeclared_AreAllPacked()
    {
        string prefix = "";
        List<string> declared = [];
        foreach (XElement each in XElement.Load(Path.Combine(feed.Root, "packaging", "Packages.props")).Descendants())
        {
            if (each.Name.LocalName == "AmbrosiaPackagePrefix") prefix = each.Value;
            if (each.Name.LocalName == "PackageId")
                declared.Add(each.Value.Replace("$(AmbrosiaPackagePrefix)", prefix, StringComparison.Ordinal));
        }
        Assert.Equal(declared.Order(), _packages.Except(OfSystems()).Select(static package => package.Id).Order());
    }

    [Fact]
    public void Packs_OfOneCommitInTwoPlaces_AreEqualByteByByte()
    {
        string[] names = [.. Directory.EnumerateFiles(feed.Packages).Select(static path => Path.GetFileName(path)).Order()];
        Assert.Equal(names, Directory.EnumerateFiles(feed.PackagesOfCopy).Select(static path => Path.GetFileName(path)).Order());
        Assert.Empty(names.SelectMany(name => Differences(Path.Combine(feed.Packages, name), Path.Combine(feed.PackagesOfCopy, name))));
    }

    [Fact]
    public void Packages_All_NameNoPlaceOfThisMachine() =>
        Assert.Empty(_packages.Concat(ReadAll(feed.Packages, "*.snupkg")).SelectMany(package => Places(package, feed.Root)));

    [Fact]
    public void Packages_OfOurs_AskForExactlyTheirOwnVersion()
    {
        HashSet<string> ours = [.. _packages.Select(static package => package.Id)];
        (string, string)[] dependencies = [.. _packages.SelectMany(static package => package.Dependencies)
            .Where(static each => each.Id.StartsWith("Ambrosia", StringComparison.Ordinal))];
        Assert.NotEmpty(dependencies);
        Assert.All(dependencies, each => Assert.Equal((true, $"[{feed.Version}]"), (ours.Contains(each.Item1), each.Item2)));
    }

    [Fact]
    public void Packages_All_HaveALicenceAReadmeAndWhatTypeNeeds()
    {
        Assert.All(_packages, static package =>
        {
            Assert.Equal(("MIT", "README.md"), (package.License, package.Readme));
            Assert.Contains("LICENSE", package.Entries.Keys);
            Assert.Contains("README.md", package.Entries.Keys);
        });
        Assert.Equal(["Ambrosia.ImmortalCoordinator", "Ambrosia.Tool"], Ids("DotnetTool"));
        Assert.Equal(["Ambrosia.Templates"], Ids("Template"));
    }

    /// <summary>On a machine with a linker the tool has a package of one native file for its system, and one that any .NET runs.</summary>
    [Fact]
    public void Coordinator_PackedWithALinker_IsOneNativeFile()
    {
        if (!File.Exists("/usr/bin/gcc")) return; // then the tool is one package, which the other tests install
        PackageFile[] systems = [.. OfSystems()];
        Assert.Equal(2, systems.Length);
        Assert.Contains("Ambrosia.ImmortalCoordinator.any", systems.Select(static package => package.Id));
        PackageFile native = Assert.Single(systems, static package => !package.Id.EndsWith(".any", StringComparison.Ordinal));
        string[] tools = [.. native.Entries.Keys.Where(static path => path.StartsWith("tools/", StringComparison.Ordinal))
            .Select(Path.GetFileName).OfType<string>().Order(StringComparer.Ordinal)];
        Assert.Equal(["DotnetToolSettings.xml", "ImmortalCoordinator"], tools);
    }

    [Fact]
    public void Libraries_All_HaveDocumentationAndSymbols() => Assert.All(
        _packages.Where(static package => package.Types.Count == 0), static package =>
        {
            string assembly = Assert.Single(package.Entries.Keys, static path => path.StartsWith("lib/", StringComparison.Ordinal)
                && path.EndsWith(".dll", StringComparison.Ordinal));
            Assert.Contains(Path.ChangeExtension(assembly, ".xml"), package.Entries.Keys);
            Assert.Contains(Path.ChangeExtension(assembly, ".pdb"),
                PackageFile.Read(Path.ChangeExtension(package.Path, ".snupkg")).Entries.Keys);
        });

    [Fact]
    public void Faults_Planted_AreFound()
    {
        string folder = Directory.CreateTempSubdirectory("ambrosia-feed-").FullName;
        try
        {
            string name = Path.GetFileName(_packages[0].Path), planted = Path.Combine(folder, name);
            byte[] bytes = File.ReadAllBytes(_packages[0].Path);
            bytes[^1] ^= 1;
            File.WriteAllBytes(planted, bytes);
            Assert.Equal([name], Differences(_packages[0].Path, planted));
            // What sources are named from stands for a place here.
            Assert.NotEmpty(Places(_packages[0], "/_/"));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>The packages of a tool for one system each.</summary>
    private IEnumerable<PackageFile> OfSystems() => _packages.Where(static package => package.Types.Contains("DotnetToolRidPackage"));

    private string[] Ids(string type) =>
        [.. _packages.Where(package => package.Types.Contains(type)).Select(static package => package.Id).Order()];

    private static PackageFile[] ReadAll(string folder, string pattern) =>
        [.. Directory.EnumerateFiles(folder, pattern).Order().Select(PackageFile.Read)];

    private static IEnumerable<string> Differences(string one, string other)
    {
        if (File.ReadAllBytes(one).AsSpan().SequenceEqual(File.ReadAllBytes(other))) yield break;
        yield return Path.GetFileName(one);
    }

    /// <summary>Files of a package that have the path of the sources in them, or that of a temporary folder or of a home.</summary>
    private static IEnumerable<string> Places(PackageFile package, string root)
    {
        string[] places = [root, Path.TrimEndingDirectorySeparator(Path.GetTempPath()) + "/",
            Environment.GetFolderPath(Environment.SpecialFolder.UserProfile) + "/"];
        return from entry in package.Entries
               from place in places
               where entry.Value.AsSpan().IndexOf(Encoding.UTF8.GetBytes(place)) >= 0
                   || entry.Value.AsSpan().IndexOf(Encoding.Unicode.GetBytes(place)) >= 0
               select $"{package}: {entry.Key} names {place}";
    }
}
