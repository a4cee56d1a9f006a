using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>replay</c> on the command line.</summary>
internal sealed class ReplayVerb(string[] args)
{
    private readonly Option<int> _size = Options.MessageBytes("16");
    private readonly Option<long> _log = Options.Size("--log-bytes", "Bytes of log that are executed again.", "1G");
    private readonly Option<int> _rounds = Options.Number("--rounds", "Replays of each kind.", 3);
    private readonly Option<int> _pairs = Options.Number(
        "--pairs", "Rounds beside a replay that follows, each with one beside other work.", 5);

    public Command Command => new Measurement("replay", args).Build(
        "A log executed again by those who look at its past: by one build and by two, and until a debugger stands at its end.",
        Measure, _size, _log, _rounds, _pairs);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        ReplayResult found = new ReplayCommand(cluster)
            .Run(parsed.GetValue(_size), parsed.GetValue(_log), parsed.GetValue(_rounds), parsed.GetValue(_pairs));
        return new Outcome(found, cluster.Durability, () => Show(found));
    }

    private static void Show(ReplayResult found)
    {
        Report.Show(
            ["", "s", "messages/s", "with the search for its end, s"],
            [
                [
                    "when they came first", Report.Number(found.Messages / found.OriginalPerSecond, "F2"),
                    Report.Number(found.OriginalPerSecond, "N0"), "",
                ],
                Row("replayed", found.Messages, found.Alone), Row("by two builds side by side", found.Messages, found.Paired),
                ["a stop at the end, from the beginning", Report.Number(Median.Of(found.FromBeginning, static each => each), "F2"), "", ""],
                ["from a checkpoint", Report.Number(Median.Of(found.FromCheckpoint, static each => each), "F2"), "", ""],
            ]);
        Console.WriteLine(
            $"{found.LogBytes >> 20} MiB of log; replayed {Report.Number(found.ReplayRatio, "F2")} times as fast as it came, by two builds {Report.Number(found.PairedRatio, "F2")} of that");
        Console.WriteLine(
            $"a stream beside a replay that follows it, over one beside as much other work: {Report.Number(found.FollowedRatio, "F3")}, median of {found.Followed.Count} pairs");
    }

    private static string[] Row(string what, long messages, IReadOnlyList<ReplayedLog> replays)
    {
        double seconds = Median.Of(replays, static each => each.ExecutingSeconds);
        return
        [
            what, Report.Number(seconds, "F2"), Report.Number(messages / seconds, "N0"),
            Report.Number(Median.Of(replays, static each => each.Seconds), "F2"),
        ];
    }
}
