// The commands that look at the past of a log, as a user runs them.
using System.Diagnostics;
using System.Text.Json.Nodes;

namespace Ambrosia.Perf;

/// <summary>Runs the tools that execute a log in views, with this program as the app.</summary>
internal sealed class ViewTools(ClusterOptions cluster, Member member)
{
    private readonly Tools _tools = new(cluster.Limit);

    /// <summary>Replays the log by our build, beside itself or alone.</summary>
    /// <exception cref="FailedRoundException">It found a difference, or failed.</exception>
    public ReplayedLog Replay(bool isPaired)
    {
        List<string> words = ["replay", member.LogDirectory, "--app", member.AppCommand, "--json"];
        if (isPaired) words.AddRange(["--old", member.AppCommand]);
        const int notComparable = 3; // alone, a log without digests behind its last calls is compared with nothing
        string found = _tools.Run(Tools.Ambrosia, words, out double seconds, 0, notComparable);
        JsonNode report = JsonNode.Parse(found)!;
        double handling = report["handlers"]!.AsArray().Sum(static each => each!["nowSeconds"]!.GetValue<double>());
        return new ReplayedLog(seconds, report["seconds"]!.GetValue<double>(), handling);
    }

    /// <summary>Seconds from the start of <c>debug</c> until it has stopped at the log's last message and was ended.</summary>
    public double StopAtEnd()
    {
        string commands = Path.Combine(cluster.Directory, "commands");
        File.WriteAllText(commands, "where\n");
        _tools.Run(
            cluster.Coordinator,
            ["debug", "--log", member.LogDirectory, "--until", "end", "--commands", commands, "--", .. member.AppWords],
            out double seconds, 0);
        return seconds;
    }

    /// <summary>A replay that follows the log until it is disposed of.</summary>
    public Process Follow() => Process.Start(
        Tools.StartOf(Tools.Ambrosia, ["replay", member.LogDirectory, "--app", member.AppCommand, "--follow"]))!;
}

/// <summary>Says how long a replay took.</summary>
/// <param name="Seconds">From the start of the command to its end.</param>
/// <param name="ExecutingSeconds">By its own report: the start of the apps, and all that they execute.</param>
/// <param name="HandlingSeconds">That the handlers of the app took.</param>
internal sealed record ReplayedLog(double Seconds, double ExecutingSeconds, double HandlingSeconds);
