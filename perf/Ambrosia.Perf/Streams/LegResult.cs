using System.Text.Json.Serialization;

namespace Ambrosia.Perf;

/// <summary>All rounds of one leg at one size.</summary>
internal sealed record LegResult(string Leg, string Durability, IReadOnlyList<StreamRound> Rounds)
{
    public double MessagesPerSecond => Median.Of(Rounds, static round => round.MessagesPerSecond);

    public double MegabytesPerSecond => Median.Of(Rounds, static round => round.MessagesPerSecond * round.Bytes / 1e6);

    /// <summary>The processes of the leg together used so much for a million messages.</summary>
    public double CpuSecondsPerMillion => Median.Of(Rounds, static round => round.CpuSecondsPerMillion);

    public double Commits => Median.Of(Rounds, static round => round.Used.Commits);

    public double BytesPerCommit => Median.Of(Rounds, static round => round.Used.BytesPerCommit);

    /// <summary>Bytes written to the receivers' logs for one byte of payload.</summary>
    public double LogBytesPerByte => Median.Of(Rounds, static round => (double)round.Used.LogBytes / (round.Messages * round.Bytes));

    /// <summary>Slowest round over fastest: how much to believe.</summary>
    [JsonIgnore]
    public double Spread =>
        Rounds.Max(static round => round.Seconds / round.Messages) / Rounds.Min(static round => round.Seconds / round.Messages);
}
