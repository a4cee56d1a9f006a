using System.Diagnostics;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// A small project with the repository's own settings, which is built to see what the compiler and its analyzers refuse. A rule that is not
/// wired in looks exactly like one that is kept.
/// </summary>
internal sealed class PlantedProject : IDisposable
{
    private static readonly TimeSpan s_buildMax = TimeSpan.FromMinutes(5);

    private static readonly string[] s_settings = ["Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props",
        "BannedSymbols.txt", "BannedSymbols.Files.txt", ".editorconfig", "global.json"];

    /// <summary>A test host hands down where it found its own build tools.</summary>
    private static readonly string[] s_handedDown =
        ["MSBuildSDKsPath", "MSBUILD_EXE_PATH", "MSBuildExtensionsPath", "MSBuildLoadMicrosoftTargetsReadOnly"];

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-tidy-").FullName;

    /// <summary>Makes a project whose name decides about its settings.</summary>
    public PlantedProject(string name)
    {
        Write($"{name}.csproj", """<Project Sdk="Microsoft.NET.Sdk" />""");
        foreach (string setting in s_settings) Write(setting, Repository.Read(setting));
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    public void Write(string path, string text)
    {
        string full = Path.Join(_folder, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }

    public void Delete(string path) => File.Delete(Path.Join(_folder, path));

    /// <summary>Builds it and returns what was said.</summary>
    public string Build()
    {
        var start = new ProcessStartInfo("dotnet",
            ["build", "-v", "q", "--nologo", "-p:AmbrosiaBannedApis=true", "-p:UseSharedCompilation=false", "-nodeReuse:false"])
        {
            WorkingDirectory = _folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string name in s_handedDown) start.Environment.Remove(name);
        using Process build = Process.Start(start)!;
        Task<string> error = build.StandardError.ReadToEndAsync();
        Task<string> output = build.StandardOutput.ReadToEndAsync();
        if (build.WaitForExit(s_buildMax)) return output.Result + error.Result;
        build.Kill(entireProcessTree: true);
        throw new TimeoutException($"the build took more than {s_buildMax}");
    }
}
