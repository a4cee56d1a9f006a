namespace Ambrosia.Perf;

/// <summary>The rivals' legs, by the names of the command line.</summary>
internal static class Rival
{
    private const string GrpcProgram = "grpc_rival", TcpProgram = "tcp_rival", ReferenceProgram = "c_path";
    /// <summary>A message of the reference must fit one of its pages.</summary>
    private const int ReferenceBytesMax = 512 * 1024;

    private const string Undurable = "NOT durable: one hop, nothing is logged";
    private const string ReferenceDurable =
        "durable: pages written and flushed (fdatasync) before they are handed on; nothing kept for resending, no fence, no user code";

    /// <param name="plan">Who sends to whom, where we are our own rival.</param>
    public static IReadOnlyList<IStreamLeg> StreamLegs(IReadOnlyList<string> names, ClusterOptions options, StreamPlan plan) =>
        [.. names.SelectMany(name => (IEnumerable<IStreamLeg>)(name switch
        {
            RivalNames.Grpc =>
                [Stream("grpc", Undurable, GrpcProgram, ["stream", "plain"], options),
                    Stream("grpc-hint", Undurable, GrpcProgram, ["stream", "hint"], options)],
            RivalNames.Tcp => [Stream("tcp", Undurable, TcpProgram, ["stream"], options)],
            RivalNames.Off =>
                [new AmbrosiaLeg(
                    options with
                    {
                        Log = LogKind.Off, Directory = ClusterOptions.MemoryDirectory($"ambrosia-perf-{Environment.ProcessId}-off")
                    }, plan, name: "ambrosia-off")],
            RivalNames.Buffered =>
                [new AmbrosiaLeg(options with { Log = LogKind.Buffered, Directory = Path.Combine(options.Directory, "buffered") }, plan,
                    name: "ambrosia-buffered")],
            RivalNames.Standby =>
                [new AmbrosiaLeg(options with { HasStandbys = true, Directory = Path.Combine(options.Directory, "standby") }, plan,
                    name: "ambrosia-standby")],
            RivalNames.Rings =>
                [new AmbrosiaLeg(options with { Local = LocalHop.Rings, Directory = Path.Combine(options.Directory, "rings") }, plan,
                    name: "ambrosia-rings")],
            RivalNames.CSharp =>
                [new AmbrosiaLeg(options with { AppOf = static _ => null, Directory = Path.Combine(options.Directory, "csharp") }, plan,
                    name: "ambrosia-csharp")],
            _ => [Reference("c-direct", "direct", options), Reference("c-buffered", "buffered", options)],
        }))];

    public static IReadOnlyList<IPingLeg> PingLegs(IReadOnlyList<string> names, ClusterOptions options) =>
        [.. names.SelectMany(name => (IEnumerable<IPingLeg>)(name switch
        {
            RivalNames.Grpc => [Ping("grpc", Undurable, GrpcProgram, ["ping"], [], options)],
            RivalNames.Tcp => [Ping("tcp", Undurable, TcpProgram, ["ping"], [], options)],
            RivalNames.Off or RivalNames.Buffered or RivalNames.Standby or RivalNames.Rings or RivalNames.CSharp => [],
            _ =>
            [
                Ping("c-direct", ReferenceDurable, ReferenceProgram, ["ping"], ["direct", Local(options), options.Directory], options),
                Ping("c-buffered", ReferenceDurable, ReferenceProgram, ["ping"], ["buffered", Local(options), options.Directory], options),
            ],
        }))];

    public static IReadOnlyList<IPingLeg> CrowdLegs(IReadOnlyList<string> names, ClusterOptions options, int outstanding) =>
        names.Contains(RivalNames.Grpc) ? [Ping("grpc-async", Undurable, GrpcProgram, ["crowd"], [$"{outstanding}"], options)] : [];

    /// <summary>As durable as our own leg: what is compared must do the same work.</summary>
    private static StreamLeg Reference(string name, string log, ClusterOptions options) => options.Log switch
    {
        LogKind.Durable => Stream(name, ReferenceDurable, ReferenceProgram, ["stream", log, Local(options), options.Directory], options),
        LogKind.Buffered =>
            Stream(name, "NOT durable: pages written, never flushed", ReferenceProgram,
                ["stream", "unflushed", Local(options), options.Directory], options),
        _ => Stream(name, "NOT durable: no log at all", ReferenceProgram, ["stream", "off", Local(options), options.Directory], options),
    };

    private static string Local(ClusterOptions options) => options.Local == LocalHop.Tcp ? "tcp" : "unix";

    private static StreamLeg Stream(
        string name, string durability, string program, IReadOnlyList<string> arguments, ClusterOptions options) =>
            new(name, durability, RivalBuild.Find(program), program == ReferenceProgram ? ReferenceBytesMax : Sizes.BytesMax,
                arguments, options);

    private static PingLeg Ping(
        string name, string durability, string program, IReadOnlyList<string> first, IReadOnlyList<string> rest, ClusterOptions options) =>
            new(name, durability, RivalBuild.Find(program), first, rest, options);

    private sealed class StreamLeg(
        string name, string durability, string program, int bytesMax, IReadOnlyList<string> arguments, ClusterOptions options) : IStreamLeg
    {
        public string Name => name;

        public string Durability => durability;

        public int BytesMax => bytesMax;

        public StreamRound Run(int bytes, long messages) =>
            RivalProcess.Stream(options, program, [.. arguments, $"{bytes}", $"{messages}"], bytes, messages);
    }

    private sealed class PingLeg(
        string name, string durability, string program, IReadOnlyList<string> first, IReadOnlyList<string> rest,
        ClusterOptions options) : IPingLeg
    {
        public string Name => name;

        public string Durability => durability;

        public PingRound Run(int calls) => RivalProcess.Ping(options, program, [.. first, .. rest, $"{calls}"], calls);
    }
}
