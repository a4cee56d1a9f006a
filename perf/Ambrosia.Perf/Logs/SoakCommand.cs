using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;

namespace Ambrosia.Perf;

/// <summary>What <c>soak</c> does: writes far more log than it keeps, and watches disk, memory and rate.</summary>
internal sealed class SoakCommand(ClusterOptions cluster, LogWriteMode mode)
{
    private const long StretchMax = 1L << 30;

    /// <exception cref="FailedRoundException">Disk or memory grew.</exception>
    public SoakResult Run(long logBytes, long segmentBytes)
    {
        var options = new LogOptions { SegmentBytes = segmentBytes, WriteMode = mode };
        using var driver = new LogDriver(Path.Combine(cluster.Directory, "log"), options);
        byte[] body = new byte[60_000];
        new Random(7).NextBytes(body);
        long stretch = Math.Min(StretchMax, Math.Max(1, logBytes / 4));
        driver.Stream(body, Math.Min(stretch, 4 * segmentBytes)); // until files are written again
        var stretches = new List<SoakStretch>();
        for (long written = 0; written < logBytes; written += stretch)
        {
            cluster.Stop.ThrowIfCancellationRequested();
            double seconds = driver.Stream(body, stretch).TotalSeconds;
            stretches.Add(
                new SoakStretch(stretches.Count + 1, seconds, driver.DiskBytes(), ProcessMemory.ResidentBytes(Environment.ProcessId)));
            cluster.Report(
                $"{written + stretch >> 20} MiB: {stretch / seconds / 1e9:F2} GB/s, disk {stretches[^1].DiskBytes >> 20} MiB, resident {stretches[^1].ResidentBytes >> 20} MiB");
        }
        LogMetrics metrics = driver.Writer.Metrics;
        var result = new SoakResult(logBytes, metrics.Rotations, metrics.Recycled, metrics.ZeroWaits, metrics.SpaceWaits, stretches);
        Check(result, segmentBytes * (3 + options.SparesMax + 1));
        return result;
    }

    /// <exception cref="FailedRoundException">Disk or memory grew.</exception>
    internal static void Check(SoakResult result, long diskBytesMax)
    {
        const long residentGrowthMax = 64L << 20;
        foreach (SoakStretch each in result.Stretches)
        {
            if (each.DiskBytes > diskBytesMax)
                throw new FailedRoundException($"the log takes {each.DiskBytes} bytes of disk where {diskBytesMax} are the bound");
            if (each.ResidentBytes > result.Stretches[0].ResidentBytes + residentGrowthMax)
                throw new FailedRoundException($"memory grew from {result.Stretches[0].ResidentBytes} to {each.ResidentBytes} bytes");
        }
    }
}
