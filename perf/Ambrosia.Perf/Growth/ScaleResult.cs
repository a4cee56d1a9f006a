namespace Ambrosia.Perf;

/// <summary>One point of a growth.</summary>
/// <param name="Kind">peers: so many senders with one receiver, the messages shared among them; immortals: so many pairs, each with its own.</param>
/// <param name="Count">Of senders or of instances.</param>
/// <param name="PerSecond">Messages of all, each round.</param>
/// <param name="CpuSecondsPerMillion">Of all processes.</param>
/// <param name="ReceiverCpuSecondsPerMillion">Of the first receiver's coordinator and app, over the messages that came there.</param>
/// <param name="ReceiverBytes">Resident in the first receiver's coordinator.</param>
internal sealed record ScalePoint(string Kind, int Count, IReadOnlyList<double> PerSecond, double CpuSecondsPerMillion, double ReceiverCpuSecondsPerMillion, long ReceiverBytes)
{
    public double MessagesPerSecond => Median.Of(PerSecond, static each => each);
}

/// <summary>What <c>scale</c> measured; the first point of each kind is what the others are compared with.</summary>
internal sealed record ScaleResult(int Bytes, IReadOnlyList<ScalePoint> Points)
{
    /// <summary>Processor time of a message over that of the first point of its kind.</summary>
    public double CostRatio(ScalePoint point) => point.CpuSecondsPerMillion / First(point).CpuSecondsPerMillion;

    /// <summary>Processor time of a message at its receiver over that of the first point of its kind.</summary>
    public double ReceiverCostRatio(ScalePoint point) => point.ReceiverCpuSecondsPerMillion / First(point).ReceiverCpuSecondsPerMillion;

    /// <summary>Messages a second of all over those of the first point of its kind.</summary>
    public double RateRatio(ScalePoint point) => point.MessagesPerSecond / First(point).MessagesPerSecond;

    private ScalePoint First(ScalePoint point) => Points.First(each => each.Kind == point.Kind);
}
