using System.Diagnostics;

namespace Ambrosia.Tidy.Tests;

/// <summary>Runs the SDK as a user of the repository does.</summary>
internal static class DotNetCommand
{
    private static readonly TimeSpan s_max = TimeSpan.FromMinutes(5);

    /// <summary>A test host hands down where it found its own build tools.</summary>
    private static readonly string[] s_handedDown =
        ["MSBuildSDKsPath", "MSBUILD_EXE_PATH", "MSBuildExtensionsPath", "MSBuildLoadMicrosoftTargetsReadOnly"];

    /// <summary>Runs a command in a folder and returns what was said.</summary>
    public static string Run(string folder, params string[] words)
    {
        var start = new ProcessStartInfo("dotnet", words)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string name in s_handedDown) start.Environment.Remove(name);
        start.Environment.TryAdd("UseSharedCompilation", "false"); // ./test.sh has a compiler for all builds, which ends with it
        using Process command = Process.Start(start)!;
        Task<string> error = command.StandardError.ReadToEndAsync();
        Task<string> output = command.StandardOutput.ReadToEndAsync();
        if (command.WaitForExit(s_max)) return output.Result + error.Result;
        command.Kill(entireProcessTree: true);
        throw new TimeoutException($"dotnet {words[0]} took more than {s_max}");
    }
}
