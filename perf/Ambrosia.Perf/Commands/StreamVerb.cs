using System.CommandLine;

namespace Ambrosia.Perf;

/// <summary><c>stream</c> on the command line.</summary>
internal sealed class StreamVerb(string[] args)
{
    private const string CSharp = "csharp", Cpp = "cpp";

    private readonly Option<IReadOnlyList<int>> _sizes = Options.SizeList("--sizes", "Bytes of a message:", "65536..16");
    private readonly Option<long> _bytes = Options.Size("--bytes", "Bytes of a round.", "256M");
    private readonly Option<int> _messagesMax = Options.Number("--messages-max",
        "Messages of a round at most, which counts for small ones.", 20_000_000);
    private readonly Option<int> _rounds = Options.Number("--rounds", "Rounds that count; their median is reported.", 7);
    private readonly Option<int> _killed = Options.Number("--killed",
        "Rounds behind them in whose middle receivers, senders, or both are killed in turn.", 1, min: 0);
    private readonly Option<bool> _bidirectional = new("--bidirectional") { Description = "Both ways at once." };
    private readonly Option<int> _jobs = Options.Number("--jobs", "Senders with one receiver.", 1);
    private readonly Option<TimeSpan?> _impulse = Options.Interval("--impulse",
        "An impulse so often at the receiver meanwhile, like 1ms; their latencies are reported.");
    private readonly Option<long?> _state = new("--state")
    {
        Description = "Bytes of state that the receiver holds, like 64M. Default: none.", HelpName = "SIZE",
        CustomParser = static result =>
        {
            if (!Sizes.TryParse(result.Tokens[0].Value, out long value))
                result.AddError($"'{result.Tokens[0].Value}' of --state is no size; write it like 64M");
            return value;
        },
    };
    private readonly Option<bool> _tls = new("--tls") { Description = "Links through TLS, in turn with the same without it." };
    private readonly Option<string> _bindings = Options.Word("--bindings",
        "Binding of both ends; or, with a dash between, that of the senders and that of the receivers.",
        CSharp, Cpp, $"{CSharp}-{Cpp}", $"{Cpp}-{CSharp}");
    private readonly Option<IReadOnlyList<string>> _rivals = RivalNames.Option();

    public Command Command
    {
        get
        {
            Command command = new Measurement("stream", args).Build(
                "One-way calls as fast as they go, durable at the receiver before they are applied; timed at its last message.",
                Measure, _sizes, _bytes, _messagesMax, _rounds, _killed, _bidirectional, _jobs, _impulse, _state, _tls, _bindings, _rivals);
            command.Validators.Add(result =>
            {
                if (result.GetValue(_bidirectional) && result.GetValue(_jobs) > 1)
                    result.AddError("--bidirectional and --jobs exclude each other; give one");
                if ((result.GetValue(_bindings) ?? CSharp) != CSharp && result.GetResult(_impulse) is not null)
                    result.AddError("--bindings with cpp and --impulse exclude each other: the end in C++ sends none");
                if (result.GetValue(_bindings) is { } bindings && bindings != CSharp && bindings != Cpp && result.GetValue(_bidirectional))
                    result.AddError($"--bindings {bindings} and --bidirectional exclude each other: each end is sender and receiver");
            });
            return command;
        }
    }

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        StreamPlan plan = parsed.GetValue(_bidirectional) ? StreamPlan.Bidirectional
            : parsed.GetValue(_jobs) > 1 ? StreamPlan.Jobs(parsed.GetValue(_jobs)) : StreamPlan.OneWay;
        var options = new StreamOptions(parsed.GetRequiredValue(_sizes), parsed.GetValue(_bytes), parsed.GetValue(_messagesMax),
            parsed.GetValue(_rounds), parsed.GetValue(_killed))
        {
            WarmUpTime = StreamOptions.WarmUpUsual, StateBytes = parsed.GetValue(_state) ?? 0, ImpulseEvery = parsed.GetValue(_impulse),
        };
        cluster = cluster with { AppOf = AppsOf(parsed.GetRequiredValue(_bindings), plan, cluster) };
        IReadOnlyList<IStreamLeg> others = Rival.StreamLegs(parsed.GetRequiredValue(_rivals), cluster, plan);
        if (!parsed.GetValue(_tls)) return OutcomeOf(new StreamCommand(cluster, plan, others).Run(options), cluster);
        using var plain = new AmbrosiaLeg(cluster with { Directory = Path.Combine(cluster.Directory, "plain") }, plan, name: "plain");
        return OutcomeOf(new StreamCommand(LinkCertificates.Give(cluster), plan, [plain, .. others]).Run(options), cluster);
    }

    /// <summary>By instance: the program of an end in C++, and null for one in C#.</summary>
    private static Func<string, IReadOnlyList<string>?> AppsOf(string bindings, StreamPlan plan, ClusterOptions cluster)
    {
        if (bindings == CSharp) return static _ => null;
        if (cluster.Local == LocalHop.Embedded)
            throw new MissingRivalException("--bindings with cpp and --local embedded exclude each other: an app in C++ is a process of its own");
        string[] ends = bindings.Split('-');
        string program = RivalBuild.Find(RivalNames.StreamEnd);
        return instance => ends[plan.IsReceiver(instance) ? ^1 : 0] == Cpp ? [program] : null;
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
