namespace Ambrosia.Perf;

/// <summary>One point of a growth.</summary>
/// <param name="Kind">peers: so many senders with one receiver, the messages shared among them; destinations: so many receivers with one
/// sender; immortals: so many pairs, each with its own.</param>
/// <param name="Count">Of senders, receivers or instances.</param>
/// <param name="PerSecond">Messages of all, each round.</param>
/// <param name="CpuSecondsPerMillion">Of all processes.</param>
/// <param name="Hub">Of the one that has so many peers (of the first receiver of many pairs), over the messages that went
/// through it, each round.</param>
/// <param name="HubBytes">Resident in its coordinator.</param>
internal sealed record ScalePoint(
    string Kind, int Count, IReadOnlyList<double> PerSecond, double CpuSecondsPerMillion, IReadOnlyList<HubCost> Hub, long HubBytes)
{
    /// <summary>Messages to one destination before the next has its turn; 0: there is but one.</summary>
    public int Turn { get; init; }

    /// <summary>Rounds in whose middle every process was killed, and which ended with the same totals.</summary>
    public IReadOnlyList<KilledRound> Killed { get; init; } = [];

    public double MessagesPerSecond => Median.Of(PerSecond, static each => each);

    public double HubCpuSecondsPerMillion => Median.Of(Hub, static each => each.CpuSecondsPerMillion);

    public double HubCoordinatorCpuSecondsPerMillion => Median.Of(Hub, static each => each.CoordinatorCpuSecondsPerMillion);

    public double HubWaitsPerMillion => Median.Of(Hub, static each => each.WaitsPerMillion);
}

/// <summary>What a message costs the one that has so many peers, in one round. Compilation in the background is told apart.</summary>
/// <param name="CpuSecondsPerMillion">Of its coordinator and app.</param>
/// <param name="WaitsPerMillion">Times that a thread of its coordinator waited for something.</param>
/// <param name="CompilationSeconds">Beside them, in the whole round.</param>
internal sealed record HubCost(
    double CpuSecondsPerMillion, double CoordinatorCpuSecondsPerMillion, double WaitsPerMillion, double CompilationSeconds)
{
    public static HubCost Of(HubUsage used, double millions) =>
        new(used.Seconds / millions, used.CoordinatorSeconds / millions, used.Waits / millions, used.CompilationSeconds);
}

/// <summary>What <c>scale</c> measured; the first point of each kind is what the others are compared with.</summary>
internal sealed record ScaleResult(int Bytes, IReadOnlyList<ScalePoint> Points)
{
    /// <summary>Processor time of a message over that of the first point of its kind.</summary>
    public double CostRatio(ScalePoint point) => point.CpuSecondsPerMillion / First(point).CpuSecondsPerMillion;

    /// <summary>Processor time of a message at the one that has so many peers, over that of the first point of its kind.</summary>
    public double HubCostRatio(ScalePoint point) => point.HubCpuSecondsPerMillion / First(point).HubCpuSecondsPerMillion;

    /// <summary>The same of its coordinator alone.</summary>
    public double HubCoordinatorCostRatio(ScalePoint point) =>
        point.HubCoordinatorCpuSecondsPerMillion / First(point).HubCoordinatorCpuSecondsPerMillion;

    /// <summary>Messages a second of all over those of the first point of its kind.</summary>
    public double RateRatio(ScalePoint point) => point.MessagesPerSecond / First(point).MessagesPerSecond;

    private ScalePoint First(ScalePoint point) => Points.First(each => each.Kind == point.Kind);
}
