using System.Globalization;

namespace Ambrosia.Perf;

/// <summary>Latencies of one round, in microseconds.</summary>
internal sealed record Latencies(long Count, double P50, double P90, double P99, double P999, double Max)
{
    /// <summary>Reads what <see cref="LatencyHistogram.ToString"/> wrote.</summary>
    public static Latencies Parse(ReadOnlySpan<string> words) => new(
        long.Parse(words[0], CultureInfo.InvariantCulture), Number(words[1]), Number(words[2]), Number(words[3]), Number(words[4]),
        Number(words[5]));

    public static Latencies Of(LatencyHistogram histogram) => Parse(histogram.ToString().Split(' '));

    /// <summary>Each figure's median over the rounds.</summary>
    public static Latencies MedianOf(IReadOnlyList<Latencies> rounds) => new(
        rounds[0].Count, Median.Of(rounds, static r => r.P50), Median.Of(rounds, static r => r.P90), Median.Of(rounds, static r => r.P99),
        Median.Of(rounds, static r => r.P999), Median.Of(rounds, static r => r.Max));

    private static double Number(string word) => double.Parse(word, CultureInfo.InvariantCulture);
}
