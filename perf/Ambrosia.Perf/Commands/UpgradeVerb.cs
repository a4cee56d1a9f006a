using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>upgrade</c> on the command line.</summary>
internal sealed class UpgradeVerb(string[] args)
{
    private const string Rehearsal = "rehearsal", Trial = "trial";

    private static readonly (string Word, UpgradeKind Kind)[] s_kinds =
    [
        ("failover", UpgradeKind.Failover), ("replica", UpgradeKind.Replica), ("beside", UpgradeKind.Beside),
        ("given-up", UpgradeKind.GivenUp), ("given-up-beside", UpgradeKind.GivenUpBeside),
    ];

    private static readonly string[] s_words = [.. s_kinds.Select(static each => each.Word), Rehearsal, Trial];

    private readonly Option<IReadOnlyList<int>> _states = Options.Counts(
        "--state", "Mebibytes of state; rehearsals and trials are made with the first.", "1,16,256", 16_384);
    private readonly Option<int> _rounds = Options.Number("--n", "Rounds with the first size: one pause of each kind.", 30);
    private readonly Option<int> _others = Options.Number("--n-others", "Rounds with each other size.", 5);
    private readonly Option<int> _pairs = Options.Number("--pairs", "Pairs of throughputs with and without rehearsals.", 10);
    private readonly Option<TimeSpan?> _each = Options.Interval("--each", "The time of each throughput. Default: 5s.");
    private readonly Option<long> _log = Options.Size("--log-bytes", "Bytes of log for --test-upgrade.", "1G");
    private readonly Option<int> _size = Options.MessageBytes("1024");
    private readonly Option<int> _trials = Options.Number("--trials", "Times that --test-upgrade runs.", 3);

    private readonly Option<IReadOnlyList<string>> _kinds = new("--kinds")
    {
        Description = $"What is measured. Default: {string.Join(',', s_words)}.",
        HelpName = "KIND,KIND,…",
        DefaultValueFactory = static _ => s_words,
        CustomParser = static result =>
        {
            string[] words = result.Tokens[0].Value.Split(',');
            if (words.FirstOrDefault(static word => !s_words.Contains(word)) is { } wrong)
                result.AddError($"'{wrong}' of --kinds is none of {string.Join(", ", s_words)}");
            return words;
        },
    };

    public Command Command => new Measurement("upgrade", args).Build(
        "Live upgrades by two builds. The pause that callers see: somebody calls every millisecond whatever is outstanding, and the pause is the longest time between two answers, from the kill, the start of the replica that upgrades or the command to a second behind the first answer at the end; fail-overs, upgrades by a replica and beside the app, and ones that are given up take turns on one log. What rehearsals cost the primary's throughput, and how long --test-upgrade takes over a log.",
        Measure, _kinds, _states, _rounds, _others, _pairs, _each, _log, _size, _trials);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        if (cluster.Local == LocalHop.Embedded)
            throw new MissingRivalException("upgrade and --local embedded exclude each other: two builds are two processes");
        IReadOnlyList<string> words = parsed.GetRequiredValue(_kinds);
        var plan = new UpgradePlan(
            [.. s_kinds.Where(each => words.Contains(each.Word)).Select(static each => each.Kind)], parsed.GetRequiredValue(_states),
            parsed.GetValue(_rounds), parsed.GetValue(_others))
        {
            Rehearsals = (words.Contains(Rehearsal) ? parsed.GetValue(_pairs) : 0, parsed.GetValue(_each) ?? TimeSpan.FromSeconds(5)),
            Trials = (words.Contains(Trial) ? parsed.GetValue(_trials) : 0, parsed.GetValue(_log), parsed.GetValue(_size)),
        };
        UpgradeResult found = new UpgradeCommand(cluster).Run(plan);
        return new Outcome(found, cluster.Durability, () => Show(found));
    }

    private static void Show(UpgradeResult found)
    {
        if (found.Pauses.Count > 0)
            Report.Show(
                ["state MiB", "", "times", "pause p50 ms", "p99", "max", "before, p50 ms", "rehearsed p50 ms", "image bytes", "ms/MiB more"],
                found.Pauses.SelectMany(state => state.Kinds.Select(kind => Row(found, state, kind))));
        foreach (UpgradePauses state in found.Pauses)
        {
            ShowRatio($"{state.Mebibytes} MiB: by a replica ÷ fail-over", state.ReplicaByFailover);
            ShowRatio($"{state.Mebibytes} MiB: beside ÷ by a replica", state.BesideByReplica);
            ShowRatio($"{state.Mebibytes} MiB: predicted ÷ real, by a replica", state.ReplicaPredictedByReal);
            ShowRatio($"{state.Mebibytes} MiB: predicted ÷ real, beside", state.BesidePredictedByReal);
        }
        if (found.Rehearsal is { } cost)
        {
            ShowRatio(
                $"throughput with rehearsals beside that are refused ÷ without ({cost.Mebibytes} MiB, {cost.Beside.Count} pairs)",
                RatePair.MedianOf(cost.Beside));
            ShowRatio("the same on a replica ÷ one that only follows", RatePair.MedianOf(cost.Replica));
        }
        if (found.Trial is { } trial)
            Console.WriteLine(
                $"--test-upgrade over {trial.LogBytes >> 20} MiB of log ({trial.Messages:N0} messages of {trial.MessageBytes} bytes): {Report.Number(Median.Of(trial.Seconds, static each => each), "F1")} s, {trial.Outcome}; of that {Report.Number(trial.ReplaySeconds, "F1")} s by both versions side by side");
    }

    private static string[] Row(UpgradeResult found, UpgradePauses state, PauseFigures kind) =>
    [
        $"{state.Mebibytes}", s_kinds.First(each => each.Kind == kind.Kind).Word, $"{kind.Count}", Report.Number(kind.P50Ms, "F1"),
        Report.Number(kind.P99Ms, "F1"), Report.Number(kind.MaxMs, "F1"),
        Report.Number(kind.QuietP50Ms, "F1"), Report.Number(kind.RehearsedP50Ms, "F0"), $"{kind.ImageBytes:N0}",
        Report.Number(found.MsPerMebibyte(state, kind.Kind), "F2"),
    ];

    private static void ShowRatio(string what, double? ratio)
    {
        if (ratio is not null) Console.WriteLine($"{what}: {Report.Number(ratio, "F3")}");
    }
}
