using System.Diagnostics;

namespace Ambrosia.Tidy.Tests;

/// <summary>
/// Clocks, chance, threads and files are banned from the core by an analyzer. A ban that is not wired in looks exactly like one that is
/// kept, so a small project with the core's wiring is built: clean code must pass and each planted use must be refused.
/// </summary>
public sealed class BannedApiTests : IDisposable
{
    private static readonly string[] Core = ["Ambrosia.Protocol", "Ambrosia.Log", "CRA", "Ambrosia.Coordinator", "Ambrosia"];
    private static readonly TimeSpan BuildMax = TimeSpan.FromMinutes(5);

    private readonly string folder = Directory.CreateTempSubdirectory("ambrosia-tidy-").FullName;

    public void Dispose() => Directory.Delete(folder, recursive: true);

    [Fact]
    public void Wiring_CoreProjects_AllExist() => Repository.AssertNone(
        Core.Where(static name => Repository.Projects.All(project => project.Name != name))
            .Select(static name => $"{name}: no such project; is the name in Directory.Build.targets stale?"));

    [Fact]
    public void Wiring_BannedUses_AreRefusedInTheCoreAndAllowedInPumps()
    {
        Write("Bad.cs", """
            namespace Planted;
            /// <summary>Everything that the core must not do.</summary>
            public static class Bad
            {
                public static System.DateTime Clock() => System.DateTime.UtcNow;
                public static System.Guid Chance() => System.Guid.NewGuid();
                public static System.Threading.Tasks.Task Thread() => System.Threading.Tasks.Task.Run(() => { });
                public static bool File() => System.IO.File.Exists("x");
            }
            """);
        Write("App/Pumps/Good.cs", """
            namespace Planted;
            /// <summary>What a pump may do.</summary>
            public static class Good
            {
                public static void Wait() => System.Threading.Thread.Sleep(1);
            }
            """);
        string output = Build();
        Assert.Equal([5, 6, 7, 8], Enumerable.Range(1, 20).Where(line => output.Contains($"Bad.cs({line},", StringComparison.Ordinal)));
        Assert.DoesNotContain("Good.cs(", output);
        File.Delete(Path.Join(folder, "Bad.cs"));
        Assert.DoesNotContain("error", Build());
    }

    private string Build()
    {
        // The name makes it a core project; the repository's own files are what is tested.
        Write("Ambrosia.Log.csproj", """<Project Sdk="Microsoft.NET.Sdk" />""");
        foreach (string name in (string[])["Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props",
            "BannedSymbols.txt", "BannedSymbols.Files.txt", ".editorconfig", "global.json"])
            Write(name, Repository.Read(name));
        var start = new ProcessStartInfo("dotnet",
            ["build", "-v", "q", "--nologo", "-p:AmbrosiaBannedApis=true", "-p:UseSharedCompilation=false", "-nodeReuse:false"])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // A test host hands down where it found its own build tools.
        foreach (string name in (string[])["MSBuildSDKsPath", "MSBUILD_EXE_PATH", "MSBuildExtensionsPath",
            "MSBuildLoadMicrosoftTargetsReadOnly"]) start.Environment.Remove(name);
        using Process build = Process.Start(start)!;
        Task<string> error = build.StandardError.ReadToEndAsync();
        Task<string> output = build.StandardOutput.ReadToEndAsync();
        if (build.WaitForExit(BuildMax)) return output.Result + error.Result;
        build.Kill(entireProcessTree: true);
        throw new TimeoutException($"the build took more than {BuildMax}");
    }

    private void Write(string path, string text)
    {
        string full = Path.Join(folder, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }
}
