namespace Ambrosia.Perf;

/// <summary>One point of a growth.</summary>
/// <param name="Kind">peers: so many senders with one receiver, the messages shared among them; destinations: so many receivers with one sender; immortals: so many pairs, each with its own.</param>
/// <param name="Count">Of senders, receivers or instances.</param>
/// <param name="PerSecond">Messages of all, each round.</param>
/// <param name="CpuSecondsPerMillion">Of all processes.</param>
/// <param name="HubCpuSecondsPerMillion">Of coordinator and app of the one that has so many peers (of the first receiver of many pairs), over the messages that went through it.</param>
/// <param name="HubBytes">Resident in its coordinator.</param>
internal sealed record ScalePoint(string Kind, int Count, IReadOnlyList<double> PerSecond, double CpuSecondsPerMillion, double HubCpuSecondsPerMillion, long HubBytes)
{
    /// <summary>Rounds in whose middle every process was killed, and which ended with the same totals.</summary>
    public IReadOnlyList<KilledRound> Killed { get; init; } = [];

    public double MessagesPerSecond => Median.Of(PerSecond, static each => each);
}

/// <summary>What <c>scale</c> measured; the first point of each kind is what the others are compared with.</summary>
internal sealed record ScaleResult(int Bytes, IReadOnlyList<ScalePoint> Points)
{
    /// <summary>Processor time of a message over that of the first point of its kind.</summary>
    public double CostRatio(ScalePoint point) => point.CpuSecondsPerMillion / First(point).CpuSecondsPerMillion;

    /// <summary>Processor time of a message at the one that has so many peers, over that of the first point of its kind.</summary>
    public double HubCostRatio(ScalePoint point) => point.HubCpuSecondsPerMillion / First(point).HubCpuSecondsPerMillion;

    /// <summary>Messages a second of all over those of the first point of its kind.</summary>
    public double RateRatio(ScalePoint point) => point.MessagesPerSecond / First(point).MessagesPerSecond;

    private ScalePoint First(ScalePoint point) => Points.First(each => each.Kind == point.Kind);
}
