namespace Ambrosia.Perf;

/// <summary>Checkpoints of one size of state.</summary>
/// <param name="FileBytes">Of a checkpoint's file.</param>
/// <param name="Seconds">Of each, from asking to the published name, nothing else going on.</param>
/// <param name="SecondsUnderLoad">Of one beside a stream.</param>
/// <param name="Without">Messages a second without a checkpoint.</param>
/// <param name="With">Messages a second of a round in which one was made.</param>
/// <param name="RestoreMs">From the kill of app and coordinator to a new input executed.</param>
internal sealed record CheckpointResult(long StateBytes, long FileBytes, IReadOnlyList<double> Seconds, double SecondsUnderLoad, double Without, double With, double RestoreMs)
{
    public double MegabytesPerSecond => FileBytes / Median.Of(Seconds, static s => s) / 1e6;
}
