using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>start</c> on the command line.</summary>
internal sealed class StartVerb(string[] args)
{
    private readonly Option<int> _pairs = Options.Number("--n", "Pairs of starts.", 15);

    public Command Command => new Measurement("start", args).Build(
        "A web application with an immortal in it, on an empty log, and the same without us, in turn: from the start of the process until ready.",
        Measure, _pairs);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        StartResult found = new StartCommand(cluster).Run(parsed.GetValue(_pairs));
        return new Outcome(found, cluster.Durability, () => Show(found));
    }

    private static void Show(StartResult found)
    {
        Report.Show(
            ["", "starts", "listens ms", "ready ms", "first answer ms"],
            new[] { ("with an immortal", found.With), ("without us", found.Without) }.Select(static row => new[]
            {
                row.Item1, $"{row.Item2.Count}", Report.Number(Median.Of(row.Item2, static each => each.ListensMs), "F0"),
                Report.Number(Median.Of(row.Item2, static each => each.ReadyMs), "F0"),
                Report.Number(Median.Of(row.Item2, static each => each.AnsweredMs), "F0"),
            }));
        Console.WriteLine(
            $"ready {Report.Number(found.ReadyMsMore, "F0")} ms later, its first answer {Report.Number(found.AnsweredMsMore, "F0")} ms later (medians of the pairs; at most {Report.Number(found.ReadyMsMoreMax, "F0")} ms)");
    }
}
