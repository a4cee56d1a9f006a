using System.Text.Json.Serialization;

namespace Ambrosia.Perf;

/// <summary>All rounds of one size.</summary>
/// <param name="Bytes">Of one message's argument.</param>
/// <param name="Messages">In a round.</param>
/// <param name="Seconds">Of each round.</param>
internal sealed record StreamResult(int Bytes, long Messages, IReadOnlyList<double> Seconds)
{
    public double MedianSeconds => Median.Of(Seconds, static s => s);

    public double MessagesPerSecond => Messages / MedianSeconds;

    public double MegabytesPerSecond => Messages * (double)Bytes / MedianSeconds / 1e6;

    /// <summary>Slowest round over fastest.</summary>
    [JsonIgnore]
    public double Spread => Seconds.Max() / Seconds.Min();
}
