using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>checkpoint</c> on the command line.</summary>
internal sealed class CheckpointVerb(string[] args)
{
    private readonly Option<IReadOnlyList<int>> _states = Options.Counts("--state", "Mebibytes of state.", "1,64,1024", 16_384);
    private readonly Option<int> _size = Options.MessageBytes("256");
    private readonly Option<int> _messages = Options.Number("--messages", "Messages of a round.", 1_000_000);
    private readonly Option<int> _rounds = Options.Number("--rounds", "Rounds and checkpoints of each size.", 5);

    private readonly Option<bool> _standby = new("--standby")
    {
        Description = "A second replica of the receiver follows, and takes the checkpoints."
    };

    public Command Command => new Measurement("checkpoint", args).Build(
        "Checkpoints of states of several sizes: how long one takes, what it costs a stream, and how long a restart from it takes.",
        Measure, _states, _size, _messages, _rounds, _standby);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        long[] bytes = [.. parsed.GetRequiredValue(_states).Select(static mebibytes => (long)mebibytes << 20)];
        return OutcomeOf(
            new CheckpointCommand(cluster, parsed.GetValue(_standby))
                .Run(bytes, parsed.GetValue(_size), parsed.GetValue(_messages), parsed.GetValue(_rounds)), cluster);
    }

    public static Outcome OutcomeOf(IReadOnlyList<CheckpointResult> found, ClusterOptions cluster) =>
        new(found, cluster.Durability, () => Report.Show(
            ["state MiB", "checkpoint s", "MB/s", "s beside a stream", "messages/s without", "followed", "with", "followed ÷ without",
                "with ÷ without", "back after kill ms"],
            found.Select(static each => new[]
            {
                $"{each.StateBytes >> 20}", Report.Number(Median.Of(each.Seconds, static s => s), "F3"),
                Report.Number(each.MegabytesPerSecond, "F0"), Report.Number(each.SecondsUnderLoad, "F3"),
                Report.Number(each.Without, "N0"), OrNone(each.Following, "N0"), Report.Number(each.With, "N0"),
                OrNone(each.Following / each.Without, "F2"), Report.Number(each.With / each.Without, "F2"), OrNone(each.RestoreMs, "F0"),
            })));

    private static string OrNone(double? value, string format) => value is { } number ? Report.Number(number, format) : "–";
}
