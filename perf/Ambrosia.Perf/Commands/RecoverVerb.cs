using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>recover</c> on the command line.</summary>
internal sealed class RecoverVerb(string[] args)
{
    private readonly Option<int> _size = Options.MessageBytes("16");
    private readonly Option<int> _messages = Options.Number("--messages", "Messages to replay.", 5_000_000);
    private readonly Option<int> _kills = Options.Number("--n", "Kills of an idle and of a filled instance each.", 5);

    public Command Command => new Measurement("recover", args).Build(
        "Kill -9 of app and coordinator, started again in place: until ready, until a new input is executed, and how fast the log is replayed.",
        Measure, _size, _messages, _kills);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster) =>
        OutcomeOf(
            new RecoverCommand(cluster).Run(new RecoverOptions(parsed.GetValue(_size), parsed.GetValue(_messages), parsed.GetValue(_kills))),
            cluster);

    public static Outcome OutcomeOf(RecoverResult found, ClusterOptions cluster) => new(found, cluster.Durability, () =>
    {
        Report.Show(
            ["", "kills", "log open ms", "primary ms", "ready ms", "new input executed ms"],
            new[] { ("a few records", found.Idle), ($"{found.Messages} messages", found.Filled) }.Select(static row => new[]
            {
                row.Item1, $"{row.Item2.Count}", Report.Number(Median.Of(row.Item2, static each => each.OpenMs), "F0"),
                Report.Number(Median.Of(row.Item2, static each => each.PrimaryMs), "F0"),
                Report.Number(Median.Of(row.Item2, static each => each.ReadyMs), "F0"),
                Report.Number(Median.Of(row.Item2, static each => each.ProgressMs), "F0"),
            }));
        Console.WriteLine(
            $"replayed at {Report.Number(found.ReplayPerSecond, "N0")} messages/s, {Report.Number(found.ReplayRatio, "F2")} times as fast as they came; idle coordinator: {Report.Number(found.ResidentBytesIdle / 1048576.0, "F1")} MiB resident");
    });
}
