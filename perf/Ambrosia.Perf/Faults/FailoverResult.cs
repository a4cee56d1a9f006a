namespace Ambrosia.Perf;

/// <summary>One primary killed by kill -9, app and coordinator, while messages came. Times in milliseconds from the kill.</summary>
/// <param name="PrimaryMs">The other replica had executed everything and accepted input.</param>
/// <param name="DoneMs">It had executed the round's last message.</param>
internal sealed record FailedOver(double PrimaryMs, double DoneMs);

/// <summary>What <c>failover</c> measured; each round ended with the same count, bytes and order.</summary>
internal sealed record FailoverResult(int Bytes, long Messages, IReadOnlyList<FailedOver> Kills)
{
    public double PrimaryMsMedian => Median.Of(Kills, static each => each.PrimaryMs);

    public double PrimaryMsMax => Kills.Max(static each => each.PrimaryMs);

    public double DoneMsMedian => Median.Of(Kills, static each => each.DoneMs);
}
