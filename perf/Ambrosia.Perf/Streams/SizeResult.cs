namespace Ambrosia.Perf;

/// <summary>Everything measured at one message size; the first leg is ours.</summary>
internal sealed record SizeResult(
    int Bytes, IReadOnlyList<LegResult> Legs, IReadOnlyList<PairedRatio> Ratios, IReadOnlyList<KilledRound> Killed)
{
    public LegResult Ours => Legs[0];
}
