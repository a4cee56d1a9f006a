using System.ComponentModel;
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>What was measured: the commit of the working directory, and whether it was changed.</summary>
internal static class SourceVersion
{
    public static string Describe()
    {
        string commit = Git("rev-parse", "--short=12", "HEAD");
        if (commit.Length == 0) return "unknown";
        return Git("status", "--porcelain", "--untracked-files=no").Length == 0 ? commit : $"{commit}+changes";
    }

    /// <summary>The root of the working directory; null outside one.</summary>
    public static string? Root() => Git("rev-parse", "--show-toplevel") is { Length: > 0 } root ? root : null;

    /// <summary>Empty where git is not, or says no.</summary>
    private static string Git(params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo("git")
        {
            RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = AppContext.BaseDirectory
        };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        try
        {
            using Process process = Process.Start(start)!;
            process.BeginErrorReadLine();
            string output = process.StandardOutput.ReadToEnd().Trim();
            process.WaitForExit();
            return process.ExitCode == 0 ? output : "";
        }
        catch (Win32Exception)
        {
            return "";
        }
    }
}
