// Absolute figures of a shared machine move with its neighbours; two legs that run one after the other mostly share them. So a claim is a
// ratio of each pair, and its median and range over the pairs.
namespace Ambrosia.Perf;

/// <summary>Our messages a second over a rival's, pair by pair.</summary>
/// <param name="Median">Null: no pair was left.</param>
/// <param name="Pairs">Pairs that count.</param>
/// <param name="Dropped">Pairs before one of whose legs the machine was slower than
/// <see cref="Spinner.SlowestRatio"/> times its best.</param>
internal sealed record PairedRatio(string Rival, double? Median, double? Min, double? Max, int Pairs, int Dropped)
{
    /// <param name="bestSpinnerMs">The shortest time of the fixed work in the whole measurement.</param>
    public static PairedRatio Of(string rival, IReadOnlyList<StreamRound> ours, IReadOnlyList<StreamRound> theirs, double bestSpinnerMs)
    {
        double slowest = bestSpinnerMs * Spinner.SlowestRatio;
        double[] ratios =
        [
            .. ours.Zip(theirs).Where(pair => pair.First.SpinnerMs <= slowest && pair.Second.SpinnerMs <= slowest)
                .Select(static pair => pair.First.MessagesPerSecond / pair.Second.MessagesPerSecond),
        ];
        int dropped = ours.Count - ratios.Length;
        return ratios.Length == 0
            ? new PairedRatio(rival, null, null, null, 0, dropped)
            : new PairedRatio(rival, Perf.Median.Of(ratios, static r => r), ratios.Min(), ratios.Max(), ratios.Length, dropped);
    }
}
