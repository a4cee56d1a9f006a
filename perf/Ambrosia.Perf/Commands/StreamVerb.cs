using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>stream</c> on the command line.</summary>
internal sealed class StreamVerb(string[] args)
{
    private readonly Option<IReadOnlyList<int>> sizes = Options.SizeList("--sizes", "Bytes of a message:", "65536..16");
    private readonly Option<long> bytes = Options.Size("--bytes", "Bytes of a round.", "256M");
    private readonly Option<int> messagesMax = Options.Number("--messages-max",
        "Messages of a round at most, which counts for small ones.", 20_000_000);
    private readonly Option<int> rounds = Options.Number("--rounds", "Rounds that count; their median is reported.", 7);
    private readonly Option<int> killed = Options.Number("--killed",
        "Rounds behind them in whose middle receivers, senders, or both are killed in turn.", 1, min: 0);
    private readonly Option<bool> bidirectional = new("--bidirectional") { Description = "Both ways at once." };
    private readonly Option<int> jobs = Options.Number("--jobs", "Senders with one receiver.", 1);
    private readonly Option<TimeSpan?> impulse = Options.Interval("--impulse",
        "An impulse so often at the receiver meanwhile, like 1ms; their latencies are reported.");
    private readonly Option<long?> state = new("--state")
    {
        Description = "Bytes of state that the receiver holds, like 64M. Default: none.", HelpName = "SIZE",
        CustomParser = static result =>
        {
            if (!Sizes.TryParse(result.Tokens[0].Value, out long value))
                result.AddError($"'{result.Tokens[0].Value}' of --state is no size; write it like 64M");
            return value;
        },
    };
    private readonly Option<bool> tls = new("--tls") { Description = "Links through TLS, in turn with the same without it." };
    private readonly Option<IReadOnlyList<string>> rivals = RivalNames.Option();

    public Command Command
    {
        get
        {
            Command command = new Measurement("stream", args).Build(
                "One-way calls as fast as they go, durable at the receiver before they are applied; timed at its last message.",
                Measure, sizes, bytes, messagesMax, rounds, killed, bidirectional, jobs, impulse, state, tls, rivals);
            command.Validators.Add(result =>
            {
                if (result.GetValue(bidirectional) && result.GetValue(jobs) > 1)
                    result.AddError("--bidirectional and --jobs exclude each other; give one");
            });
            return command;
        }
    }

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        StreamPlan plan = parsed.GetValue(bidirectional) ? StreamPlan.Bidirectional
            : parsed.GetValue(jobs) > 1 ? StreamPlan.Jobs(parsed.GetValue(jobs)) : StreamPlan.OneWay;
        var options = new StreamOptions(parsed.GetRequiredValue(sizes), parsed.GetValue(bytes), parsed.GetValue(messagesMax),
            parsed.GetValue(rounds), parsed.GetValue(killed))
        {
            WarmUpTime = StreamOptions.WarmUpUsual, StateBytes = parsed.GetValue(state) ?? 0, ImpulseEvery = parsed.GetValue(impulse),
        };
        IReadOnlyList<IStreamLeg> others = Rival.StreamLegs(parsed.GetRequiredValue(rivals), cluster, plan);
        if (!parsed.GetValue(tls)) return OutcomeOf(new StreamCommand(cluster, plan, others).Run(options), cluster);
        using var plain = new AmbrosiaLeg(cluster with { Directory = Path.Combine(cluster.Directory, "plain") }, plan, name: "plain");
        return OutcomeOf(new StreamCommand(LinkCertificates.Give(cluster), plan, [plain, .. others]).Run(options), cluster);
    }

    public static Outcome OutcomeOf(IReadOnlyList<SizeResult> found, ClusterOptions cluster) =>
        new(found, cluster.Durability, () => Report.Show(found)) { Charts = [ChartOf(found)] };

    private static Chart ChartOf(IReadOnlyList<SizeResult> found) => new(
        "", "Throughput by message size", "bytes of a message", "MB/s",
        [
            .. found.SelectMany(static size => size.Legs.Select(leg => (leg.Leg, Point: ((double)size.Bytes, leg.MegabytesPerSecond))))
                .GroupBy(static each => each.Leg).Select(static leg => new ChartLine(leg.Key, [.. leg.Select(static each => each.Point)])),
        ]);
}
