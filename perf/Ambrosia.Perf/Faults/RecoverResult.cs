namespace Ambrosia.Perf;

/// <summary>One instance killed by kill -9, app and coordinator, and started again in place. Times in milliseconds from the kill.</summary>
/// <param name="OpenMs">From the start of the coordinator's process: it had taken its log over and waited for the app.</param>
/// <param name="PrimaryMs">The app had executed everything and accepted input.</param>
/// <param name="ReadyMs">The coordinator said so.</param>
/// <param name="ProgressMs">A new input was durable and executed.</param>
internal sealed record Recovered(double OpenMs, double PrimaryMs, double ReadyMs, double ProgressMs);

/// <summary>What <c>recover</c> measured.</summary>
/// <param name="Idle">With a log of a few records: start-up and nothing else.</param>
/// <param name="Filled">With a round's messages to replay.</param>
/// <param name="OriginalPerSecond">Messages a second when they came first.</param>
/// <param name="ResidentBytesIdle">Of the coordinator, after an idle start.</param>
internal sealed record RecoverResult(
    int Bytes, long Messages, double OriginalPerSecond, long ResidentBytesIdle, IReadOnlyList<Recovered> Idle,
    IReadOnlyList<Recovered> Filled)
{
    public double OpenMs => Median.Of(Idle, static each => each.OpenMs);

    public double StartMs => Median.Of(Idle, static each => each.ReadyMs);

    public double ProgressMs => Median.Of(Filled, static each => each.ProgressMs);

    /// <summary>Messages a second, the start-up taken off.</summary>
    public double ReplayPerSecond =>
        Messages / Math.Max(1e-3,
            (Median.Of(Filled, static each => each.PrimaryMs) - Median.Of(Idle, static each => each.PrimaryMs)) / 1000);

    public double ReplayRatio => ReplayPerSecond / OriginalPerSecond;
}
