using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The command in a process.</summary>
internal sealed partial class DevProcess(string directory, string? app = null, params (string Name, string Value)[] variables)
    : WatchedProcess(Start(directory, app, variables), Serving(), TimeSpan.FromMinutes(5))
{
    private static ProcessStartInfo Start(string directory, string? app, (string Name, string Value)[] variables)
    {
        string output = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory), root = output;
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln"))) root = Path.GetDirectoryName(root)!;
        string configuration = Path.GetFileName(Path.GetDirectoryName(output)!);
        string tool = Path.Combine(root, "tools", "ambrosia", "bin", configuration, Path.GetFileName(output), "ambrosia");
        var start = new ProcessStartInfo(
            tool, ["dev", app ?? $"till={Path.Combine(output, "Ambrosia.Hosting.App")}", "--log", Path.Combine(directory, "log")])
        {
            WorkingDirectory = directory,
        };
        foreach ((string name, string value) in variables) start.Environment[name] = value;
        return start;
    }

    internal void Press(char key)
    {
        Process.StandardInput.Write(key);
        Process.StandardInput.Flush();
    }

    /// <summary>Sends what Ctrl-C sends.</summary>
    internal void Interrupt() => Signal("INT");

    internal async Task Until(Func<bool> holds)
    {
        for (long begun = Stopwatch.GetTimestamp(); !holds(); await Task.Delay(10))
            Assert.True(Stopwatch.GetElapsedTime(begun) < Limit, Output);
    }

    [GeneratedRegex(@"\| +(?:serving|Now listening on:) (http://\S+)")]
    private static partial Regex Serving();
}
