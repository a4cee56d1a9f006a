namespace Ambrosia.Perf;

/// <summary>Checkpoints of one size of state.</summary>
/// <param name="FileBytes">Of a checkpoint's file.</param>
/// <param name="Seconds">Of each, from asking to the published name, nothing else going on.</param>
/// <param name="SecondsUnderLoad">Of one beside a stream.</param>
/// <param name="Following">Messages a second while a second replica follows, which then takes the checkpoints; null: there is none.</param>
/// <param name="Without">Messages a second of the receiver alone, without a checkpoint.</param>
/// <param name="With">Messages a second of the rounds that began while one was made.</param>
/// <param name="RestoreMs">Null with a second replica, which would take over. From the kill of app and coordinator to a
/// new input executed.</param>
internal sealed record CheckpointResult(
    long StateBytes, long FileBytes, IReadOnlyList<double> Seconds, double SecondsUnderLoad, double Without, double? Following, double With,
    double? RestoreMs)
{
    public double MegabytesPerSecond => FileBytes / Median.Of(Seconds, static s => s) / 1e6;
}
