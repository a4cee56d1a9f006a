using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A process or the machine dies at every single operation of a log whose files are written again and again, and every operation fails in
/// turn: what was durable and not let go is there, nothing that stood in a file before ever comes back, and no file
/// is left that nobody needs.
/// </summary>
public sealed class RecyclingFaultTests
{
    public enum Death { Process, Power }

    [Theory]
    [InlineData(Death.Process)]
    [InlineData(Death.Power)]
    public void Recover_AfterDeathAtEveryOperation_HasEverythingDurableAndNoOrphans(Death death)
    {
        int seeds = death == Death.Process ? 1 : Math.Max(2, TestScale.Rounds(24)), deaths = 0;
        for (long at = 1; ; at++)
        {
            var life = new RecyclingScenario(seed: 1);
            life.Run(at);
            if (life.Death is null) break;
            deaths++;
            for (int seed = 1; seed <= seeds; seed++)
            {
                SimulatedFileSystem disk = life.Disk.Copy((ulong)seed);
                if (death == Death.Power) disk.PowerLoss((ulong)(seed * 1_000 + at));
                life.Check(disk, $"{death} at operation {at}, seed {seed}");
            }
        }
        Assert.True(deaths > 300, $"{deaths} operations");
    }

    [Theory]
    [InlineData(FileFault.InputOutput, false)]
    [InlineData(FileFault.InputOutput, true)]
    [InlineData(FileFault.NoSpace, false)]
    public void Recover_AfterAnyOperationFailed_HasEverythingDurable(FileFault fault, bool forGood)
    {
        int failures = 0, shortages = 0;
        for (long at = 1; ; at++)
        {
            var life = new RecyclingScenario(seed: 2);
            life.Disk.Faults.FailNth(at, fault, forGood);
            life.Run();
            if (life.Disk.Faults.Fired == 0) break;
            failures++;
            shortages += life.Shortages > 0 && life.Death is null ? 1 : 0;
            life.Disk.Faults.Clear();
            SimulatedFileSystem disk = life.Disk.Copy();
            life.Check(disk, $"operation {at} failed with {fault}, for good: {forGood}");
            disk = life.Disk.Copy();
            disk.PowerLoss((ulong)at);
            life.Check(disk, $"operation {at} failed with {fault}, for good: {forGood}, then power");
        }
        Assert.True(failures > 300, $"{failures} failures");
        Assert.Equal(fault == FileFault.NoSpace, shortages > 0); // a full disk is waited for, where space is set aside
    }

    /// <summary>
    /// The disk is full from the Nth operation on that asks it for space, for good: writers fill the pages in memory and then wait, nothing
    /// more is acknowledged, what was is there even if the power goes too; and when there is space again the run goes on to its end.
    /// </summary>
    [Fact]
    public void Run_DiskFullForGood_WritersWaitUntilSpaceReturns()
    {
        int waited = 0, failures = 0;
        for (long at = 1; ; at++)
        {
            var life = new RecyclingScenario(seed: 4);
            life.Disk.Faults.FailNth(at, FileFault.NoSpace, forGood: true,
                static o => o.Kind is FileOperationKind.Allocate or FileOperationKind.Create);
            int rounds = 0;
            life.InShortage = primary =>
            {
                if (++rounds == 1) CheckWaiting(life, primary, at);
                if (rounds == 5) life.Disk.Faults.Clear();
            };
            life.Run();
            if (life.Disk.Faults.Fired == 0) break;
            failures++;
            if (life.Death is null && rounds > 0)
            {
                waited++;
                Assert.Equal(life.Appended.Count, life.Durable);
            }
            life.Disk.Faults.Clear();
            SimulatedFileSystem disk = life.Disk.Copy();
            disk.PowerLoss((ulong)at);
            life.Check(disk, $"full from request {at} for space on");
        }
        Assert.True(failures > 20 && waited > 10, $"{failures} times full, {waited} times waited for");
    }

    private static void CheckWaiting(RecyclingScenario life, Primary primary, long at)
    {
        Lsn durable;
        do // space that was set aside before is used up
        {
            durable = primary.Writer.Durable;
            life.Fill(primary);
            life.TryCommit(primary);
        }
        while (primary.Writer.Durable > durable);
        Assert.Null(primary.TryAppend([1])); // whoever wants to append waits
        for (int i = 0; i < 3; i++) Assert.Null(primary.Next());
        Assert.Equal((durable, true), (primary.Writer.Durable, primary.Writer.IsSpaceShort));
        SimulatedFileSystem disk = life.Disk.Copy();
        disk.Faults.Clear();
        disk.PowerLoss((ulong)at);
        life.Check(disk, $"full from request {at} for space on, then power");
    }

    /// <summary>
    /// The kernel tells a failure once, and this flush may have taken that of a page from the committer's: no shortage to be waited for.
    /// </summary>
    [Fact]
    public void PrepareSpace_FlushOfZerosMeetsAFullDisk_IsFinal()
    {
        var disk = new SimulatedFileSystem(seed: 5);
        disk.MakeDirectory("/data");
        using Primary primary = Primary.Start(disk.ForProcess("a"), RecyclingScenario.Dir, RecyclingScenario.Options);
        bool isPreparing = false;
        disk.Faults.FailNth(1, FileFault.NoSpace, forGood: false, o => isPreparing && o.Kind == FileOperationKind.Flush);
        IOException failure = Assert.ThrowsAny<IOException>(() =>
        {
            for (int i = 0; i < 20; i++)
            {
                primary.Append(new byte[2_000]);
                primary.Commit();
                isPreparing = true;
                primary.Writer.PrepareSpace();
                isPreparing = false;
            }
        });
        Assert.False(IFileSystem.IsDiskFull(failure));
        Assert.False(primary.Writer.IsSpaceShort);
    }

    [Fact]
    public void Run_WithoutFaults_RecyclesAndLeavesAWholeLog()
    {
        var life = new RecyclingScenario(seed: 3);
        life.Run();
        Assert.Null(life.Death);
        Assert.True(life.Recycled >= 4, $"{life.Recycled} recycled");
        life.Check(life.Disk.Copy(), "healthy");
    }

    /// <summary>The control: one flipped bit of a durable record, and a file that nobody needs, are noticed by the same check.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Check_PlantedFault_IsNoticed(bool isOrphan)
    {
        var life = new RecyclingScenario(seed: 3);
        life.Run();
        SimulatedFileSystem disk = life.Disk.Copy();
        string newest = disk.Files().Where(static f => Path.GetFileName(f).StartsWith("log.", StringComparison.Ordinal))
            .MaxBy(static f => SegmentFileName.TryParse(Path.GetFileName(f))!.Value)!;
        if (isOrphan) disk.WriteAll(Path.Combine(RecyclingScenario.Dir, "spare.9.1"), [1]);
        else disk.FlipBit(newest, SegmentHeader.Bytes + 100, 3);
        Assert.ThrowsAny<Exception>(() => life.Check(disk, "planted"));
    }
}
