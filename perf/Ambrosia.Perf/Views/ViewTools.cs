// The commands that look at the past of a log, as a user runs them.
using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>Runs the tools that execute a log in views, with this program as the app.</summary>
internal sealed class ViewTools(ClusterOptions cluster, Member member)
{
    private readonly string _tool = SourceVersion.Root() is { } root
        ? Path.Combine(root, "tools", "ambrosia", "bin", ResultFile.ThisConfiguration, "net10.0", "ambrosia")
        : throw new FailedRoundException("the tool 'ambrosia' is found in the source tree, and this program is in none");

    /// <summary>Replays the log by our build, beside itself or alone.</summary>
    /// <exception cref="FailedRoundException">It found a difference, or failed.</exception>
    public ReplayedLog Replay(bool isPaired)
    {
        List<string> words = ["replay", member.LogDirectory, "--app", member.AppCommand, "--json"];
        if (isPaired) words.AddRange(["--old", member.AppCommand]);
        const int notComparable = 3; // alone, a log without digests behind its last calls is compared with nothing
        string found = Run(_tool, words, out double seconds, 0, notComparable);
        JsonNode report = JsonNode.Parse(found)!;
        double handling = report["handlers"]!.AsArray().Sum(static each => each!["nowSeconds"]!.GetValue<double>());
        return new ReplayedLog(seconds, report["seconds"]!.GetValue<double>(), handling);
    }

    /// <summary>Seconds from the start of <c>debug</c> until it has stopped at the log's last message and was ended.</summary>
    public double StopAtEnd()
    {
        string commands = Path.Combine(cluster.Directory, "commands");
        File.WriteAllText(commands, "where\n");
        Run(cluster.Coordinator, ["debug", "--log", member.LogDirectory, "--until", "end", "--commands", commands, "--", .. member.AppWords],
            out double seconds, 0);
        return seconds;
    }

    /// <summary>A replay that follows the log until it is disposed of.</summary>
    public Process Follow() => Process.Start(Start(_tool, ["replay", member.LogDirectory, "--app", member.AppCommand, "--follow"]))!;

    private string Run(string program, IReadOnlyList<string> words, out double seconds, params ReadOnlySpan<int> expected)
    {
        long begun = Stopwatch.GetTimestamp();
        using Process process = Process.Start(Start(program, words))!;
        Task<string> error = process.StandardError.ReadToEndAsync();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(cluster.Limit))
        {
            process.Kill(entireProcessTree: true);
            throw new FailedRoundException($"{Path.GetFileName(program)} {words[0]} took more than {cluster.Limit.TotalSeconds:F0} s; give more --limit");
        }
        seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        if (!expected.Contains(process.ExitCode))
            throw new FailedRoundException($"{Path.GetFileName(program)} {words[0]} ended with {process.ExitCode}: {error.Result}{output.Result}");
        return output.Result;
    }

    private static ProcessStartInfo Start(string program, IReadOnlyList<string> words)
    {
        var start = new ProcessStartInfo(program, words) { RedirectStandardOutput = true, RedirectStandardError = true };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return start;
    }
}

/// <summary>Says how long a replay took.</summary>
/// <param name="Seconds">From the start of the command to its end.</param>
/// <param name="ExecutingSeconds">By its own report: the start of the apps, and all that they execute.</param>
/// <param name="HandlingSeconds">That the handlers of the app took.</param>
internal sealed record ReplayedLog(double Seconds, double ExecutingSeconds, double HandlingSeconds);
