// The paper's Figure 8: what a month of one megabyte a second costs. It prices the machines that ran the experiment; here the processor
// time that was used is priced by the same machine's core, so that waiting costs nothing and another number of cores gives the same figure.
namespace Ambrosia.Perf;

/// <summary>Tells what messages of one size cost on one leg.</summary>
/// <param name="LogMegabytesPerMillion">Written to the receivers' logs for a million messages.</param>
/// <param name="DollarsPerMonth">For one megabyte of payload a second, all month.</param>
internal sealed record Cost(string Leg, int Bytes, double CpuSecondsPerMillion, double LogMegabytesPerMillion, double DollarsPerMonth)
{
    /// <summary>The paper's D14v2 machine of 16 cores, in dollars a month; and 100 MB/s of storage bandwidth.</summary>
    public const double CoreMonth = 1541.03 / 16, StorageMonth = 19.71 / 100;

    public static Cost Of(LegResult leg, int bytes)
    {
        double payloadMegabytes = bytes; // of a million messages
        double log = leg.LogBytesPerByte * payloadMegabytes;
        double dollars = (leg.CpuSecondsPerMillion / payloadMegabytes * CoreMonth) + (log / payloadMegabytes * StorageMonth);
        return new Cost(leg.Leg, bytes, leg.CpuSecondsPerMillion, log, dollars);
    }

    public static IReadOnlyList<Cost> Of(IReadOnlyList<SizeResult> sizes) =>
        [.. sizes.SelectMany(static size => size.Legs.Select(leg => Of(leg, size.Bytes)))];
}
