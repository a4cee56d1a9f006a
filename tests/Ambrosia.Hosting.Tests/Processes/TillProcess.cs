using System.Diagnostics;
using System.Net;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The program of the tests in a process of its own, by itself or under a coordinator. It is killed at the end.</summary>
internal sealed partial class TillProcess : WatchedProcess
{
    /// <param name="program">Beside the tests, or with its whole path.</param>
    private TillProcess(string program, IEnumerable<string> arguments, IEnumerable<(string Name, string Value)> variables)
        : base(StartOf(program, arguments, variables), Serving(), TimeSpan.FromSeconds(90))
    {
    }

    internal bool HasEnded => Process.HasExited;

    private static ProcessStartInfo StartOf(
        string program, IEnumerable<string> arguments, IEnumerable<(string Name, string Value)> variables)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, program), arguments);
        foreach ((string name, string value) in variables) start.Environment[name] = value;
        return start;
    }

    /// <summary>The program with its coordinator in it.</summary>
    internal static TillProcess Embedded(string directory, params (string Name, string Value)[] variables) =>
        new("Ambrosia.Hosting.App", [], [("Ambrosia__Log", directory), ("Ledger", Path.Combine(directory, "ledger")), .. variables]);

    /// <param name="from">The directory that the program is in.</param>
    internal static TillProcess Embedded(string directory, string from) =>
        new(Path.Combine(from, "Ambrosia.Hosting.App"), [], [("Ambrosia__Log", directory)]);

    /// <summary>
    /// The program where no file can become longer than this: what would be longer fails, and the signal for it is ignored.
    /// </summary>
    internal static TillProcess Limited(string directory, long fileBytesMax) => new(
        "/bin/bash",
        ["-c", $"trap '' XFSZ; ulimit -f {fileBytesMax / 1024}; exec \"$0\"",
            Path.Combine(AppContext.BaseDirectory, "Ambrosia.Hosting.App")],
        [("Ambrosia__Log", directory), ("DOTNET_EnableWriteXorExecute", "0")]); // which makes a long file of the runtime's own

    /// <summary>The same program under a coordinator of its own.</summary>
    internal static TillProcess Beside(string directory) => new(
        "ImmortalCoordinator",
        ["--log", Path.Combine(directory, "till"), "--", Path.Combine(AppContext.BaseDirectory, "Ambrosia.Hosting.App")],
        [("Ledger", Path.Combine(directory, "ledger"))]);

    internal void Kill()
    {
        Process.Kill();
        Process.WaitForExit(Limit);
    }

    internal void Terminate() => Signal("TERM");

    internal async Task UntilAsync(string tag, HttpStatusCode code)
    {
        long begun = Stopwatch.GetTimestamp();
        using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
        while (true)
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < Limit, $"{tag} is not {code}:\n{Output}");
            try
            {
                if (Address is { } address && (await client.GetAsync(new Uri(address, $"/health/{tag}"))).StatusCode == code) return;
            }
            catch (HttpRequestException)
            {
                // It is not there yet, or goes.
            }
            await Task.Delay(5);
        }
    }

    [GeneratedRegex(@"serving (http://\S+)")]
    private static partial Regex Serving();
}
