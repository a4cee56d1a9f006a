using System.Diagnostics;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Far more log than is kept passes through a real coordinator with its retention on: what it takes of disk and memory does not grow.
/// </summary>
public sealed class SoakTests(ITestOutputHelper output)
{
    private const long Mebibyte = 1 << 20;
    private const long SegmentBytes = 8 * Mebibyte, CheckpointEvery = 32 * Mebibyte;

    /// <summary>
    /// From the page of the older checkpoint to the tail, a segment begun at each end, spares, and what comes while checkpoints are
    /// written on a busy machine.
    /// </summary>
    private const long DiskBytesMax = 6 * CheckpointEvery + 8 * SegmentBytes;

    /// <summary>Pages and blocks that a later burst needs.</summary>
    private const long GrowthBytesMax = 24 * Mebibyte;

    private static long LogBytes => Math.Max(1024, (long)(16 * 1024 * TestScale.Value)) * Mebibyte;

    /// <summary>1 GiB at least, 16 GiB in a campaign.</summary>
    [Fact]
    public void Log_FarMoreThanIsKept_DiskBoundedAndMemoryFlat()
    {
        using var cluster = new Cluster();
        Replica replica = cluster.Add("soaked", "none");
        replica.Options.AddRange(["--segment", $"{SegmentBytes >> 20}M", "--checkpoint-every", $"{CheckpointEvery >> 20}M"]);
        cluster.Run(Cluster.Again(nameof(SoakTests)), () =>
        {
            using ImageApp app = CheckpointRun.Start(replica, 1 << 20);
            app.MessageBytes = 60_000;
            app.AnswersEach = true;
            for (int i = 0; i < 48; i++) app.Kick();
            long disk = 0, first = 0, last = 0, begun = Stopwatch.GetTimestamp();
            while (app.Executed < LogBytes)
            {
                long until = app.Executed + 16 * Mebibyte;
                app.RunUntil(() => app.Executed >= until);
                disk = Math.Max(disk, DiskBytes(replica));
                last = replica.ResidentBytes();
                if (app.Executed >= LogBytes / 4 && first == 0) first = last;
            }
            output.WriteLine(
                $"{app.Executed >> 20} MiB of log in {Stopwatch.GetElapsedTime(begun).TotalSeconds:F1} s, {app.Images} checkpoints, at most {disk >> 20} MiB of disk, {first >> 10} KiB resident after a quarter, {last >> 10} KiB at the end");
            Assert.True(disk <= DiskBytesMax, $"{disk} bytes of disk");
            Assert.True(last <= first + GrowthBytesMax, $"resident: {first} bytes after a quarter, {last} at the end");
            Assert.True(app.Images > LogBytes / CheckpointEvery / 2, $"{app.Images} checkpoints");
            cluster.AssertNoneGaveUp();
        });
    }

    private static long DiskBytes(Replica replica) => new DirectoryInfo(replica.LogDirectory).EnumerateFiles().Sum(static file =>
    {
        try
        {
            return file.Length;
        }
        catch (FileNotFoundException)
        {
            return 0; // renamed or removed since it was listed
        }
    });
}
