using System.Diagnostics;
using System.Runtime.InteropServices;
using Ambrosia.TestKit;

namespace Ambrosia.Feed.Tests;

/// <summary>
/// Packs the repository twice, from two places, under a version that nobody has had, and gives tests a folder outside of the repository
/// with a home and a cache of packages of its own, where the feed is one more source beside those of this machine. Tests share it.
/// </summary>
public sealed class Feed : IDisposable
{
    private static readonly string[] s_left = [".git", "bin", "obj", "build", "TestResults", "node_modules", "results"];

    private readonly CompilerServer _compiler = new();
    private readonly Dictionary<string, string> _settings = new()
    {
        ["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1", ["DOTNET_NOLOGO"] = "1", ["DOTNET_CLI_UI_LANGUAGE"] = "en",
        // Nothing that is started outlives the suite.
        ["MSBUILDDISABLENODEREUSE"] = "1", ["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0", ["DOTNET_EnableDiagnostics"] = "0",
        // Where an installed tool finds its runtime, wherever the SDK is.
        ["DOTNET_ROOT"] = Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "..", "..", "..")),
    };

    public Feed()
    {
        foreach ((string name, string value) in _compiler.Settings) _settings[name] = value;
        Root = FindRoot();
        Folder = Directory.CreateTempSubdirectory("ambrosia-feed-").FullName;
        try
        {
            Version = $"0.1.0-feed.{Stopwatch.GetTimestamp()}";
            string copy = Path.Combine(Folder, "copy");
            Copy(Root, copy);
            // Two folders, two time zones.
            using Command one = Pack(Root, Packages, "UTC"),
                other = Pack(copy, PackagesOfCopy, "Pacific/Auckland", "-p:EnablePackageValidation=false"); // equal ones need it once
            Assert.True(one.Succeeds(), one.Output);
            Assert.True(other.Succeeds(), other.Output);
            Directory.CreateDirectory(Work);
            Directory.CreateDirectory(PackagesOfOthers);
            File.WriteAllText(Path.Combine(Work, "nuget.config"), $"""
                <configuration>
                  <packageSources>
                    <add key="feed" value="{Packages}" />
                    <add key="others" value="{PackagesOfOthers}" />
                  </packageSources>
                </configuration>
                """);
            _settings["NUGET_PACKAGES"] = Path.Combine(Folder, "cache");
            Run(Work, "dotnet", "new", "install", Path.Combine(Packages, $"Ambrosia.Templates.{Version}.nupkg"));
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>The repository.</summary>
    public string Root { get; }

    /// <summary>The version of all packages.</summary>
    public string Version { get; }

    public string Packages => Path.Combine(Folder, "packages");

    /// <summary>The packages that were packed from a copy in another place.</summary>
    public string PackagesOfCopy => Path.Combine(Folder, "packages-of-copy");

    /// <summary>The feed of those who make packages that need ours.</summary>
    public string PackagesOfOthers => Path.Combine(Folder, "packages-of-others");

    /// <summary>The folder for what users make.</summary>
    public string Work => Path.Combine(Folder, "work");

    private string Folder { get; }

    /// <summary>
    /// The native file of these sources that ./test.sh has published for other suites, which both packs take then; null: there is none, or
    /// this is the run of a release, in which each pack makes its own.
    /// </summary>
    private static string? NativeFile =>
        TestScale.Value < 1 && Environment.GetEnvironmentVariable("AMBROSIA_TEST_COORDINATOR") is { Length: > 0 } file ? file : null;

    public void Dispose()
    {
        _compiler.Dispose();
        Directory.Delete(Folder, recursive: true);
    }

    /// <summary>Runs a program to its end, and returns what it printed.</summary>
    public string Run(string folder, string program, params string[] arguments)
    {
        using Command command = Start(folder, program, arguments);
        Assert.True(command.Succeeds(), command.Output);
        return command.Output;
    }

    internal Command Start(string folder, string program, params string[] arguments)
    {
        // Templates go into a home of their own. Sources of packages are those of this machine, so restoring keeps its home.
        Dictionary<string, string> settings = arguments is ["new", ..]
            ? new(_settings) { ["DOTNET_CLI_HOME"] = Path.Combine(Folder, "home") } : _settings;
        return new Command(folder, settings, program, arguments);
    }

    /// <summary>Installs a tool of the feed, and returns the path of its command.</summary>
    public string Install(string id, string command)
    {
        string tools = Path.Combine(Folder, "tools");
        Run(Work, "dotnet", "tool", "install", id, "--tool-path", tools, "--version", Version);
        return Path.Combine(tools, command);
    }

    private Command Pack(string root, string output, string zone, params string[] options)
    {
        var settings = new Dictionary<string, string>(_settings) { ["TZ"] = zone };
        if (NativeFile is { } file) settings["AMBROSIA_NATIVE_FILE"] = file;
        return new Command(root, settings, Path.Combine(root, "packaging", "pack"), [output, $"-p:Version={Version}", .. options]);
    }

    /// <summary>Copies the sources as they are, and git's knowledge of the commit.</summary>
    private void Copy(string from, string to)
    {
        if (Path.Exists(Path.Combine(from, ".git"))) CloneHistory(from, to);
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(from))
        {
            if (!s_left.Contains(Path.GetFileName(file))) File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }
        foreach (string folder in Directory.EnumerateDirectories(from))
        {
            if (!s_left.Contains(Path.GetFileName(folder))) CopyFolder(folder, Path.Combine(to, Path.GetFileName(folder)));
        }
    }

    /// <summary>Symbols name the remote where debuggers find the sources, so the copy has the same one.</summary>
    private void CloneHistory(string from, string to)
    {
        Run(from, "git", "clone", "--quiet", "--no-checkout", "--shared", ".", to);
        using Command remote = Start(from, "git", "config", "--get", "remote.origin.url");
        if (remote.Succeeds()) Run(to, "git", "remote", "set-url", "origin", remote.Output.TrimEnd().Split('\n')[^1]);
        else Run(to, "git", "remote", "remove", "origin");
    }

    private static void CopyFolder(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(from)) File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        foreach (string folder in Directory.EnumerateDirectories(from))
        {
            if (!s_left.Contains(Path.GetFileName(folder))) CopyFolder(folder, Path.Combine(to, Path.GetFileName(folder)));
        }
    }

    private static string FindRoot()
    {
        string root = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln")))
            root = Path.GetDirectoryName(root) ?? throw new DirectoryNotFoundException("the repository");
        return Path.TrimEndingDirectorySeparator(root);
    }
}

/// <summary>Names the suite's only collection: its tests run one after another and share one feed.</summary>
[CollectionDefinition(Name)]
public sealed class FeedCollection : ICollectionFixture<Feed>
{
    public const string Name = "feed";
}
