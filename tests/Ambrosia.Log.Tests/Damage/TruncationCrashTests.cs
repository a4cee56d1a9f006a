using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A process or the machine dies at every single operation of a life with rotations, checkpoints, truncations and a take-over. Afterwards
/// each published checkpoint that was kept has its log (I7, I14), what was durable is there, and the next truncation leaves nothing
/// behind that nobody needs.
/// </summary>
public sealed class TruncationCrashTests
{
    private const string Dir = TruncationScenario.Dir;

    public enum Death { Process, Power }

    [Theory]
    [InlineData(Death.Process)]
    [InlineData(Death.Power)]
    public void Recover_AfterDeathAtEveryOperation_CheckpointsHaveTheirLog(Death death)
    {
        int seeds = death == Death.Process ? 1 : Math.Max(2, TestScale.Rounds(20)), deaths = 0, truncated = 0;
        (int first, int step) = TestScale.Sample(5);
        for (long at = 1 + first; ; at += step)
        {
            var life = new TruncationScenario();
            if (!life.Run(at)) break;
            deaths++;
            for (int seed = 1; seed <= seeds; seed++)
            {
                SimulatedFileSystem disk = life.Disk.Copy((ulong)seed);
                if (death == Death.Power) disk.PowerLoss((ulong)(seed * 1_000 + at));
                truncated += life.Check(disk, $"{death} at operation {at}, seed {seed}");
            }
        }
        Assert.True(deaths > 300 / step, $"{deaths} operations");
        Assert.True(truncated > 20 / step, $"{truncated} times the log had been truncated");
    }

    /// <summary>
    /// The Nth operation fails, once and for good, for every N: checkpoints, truncations, rotations and the take-over among them. Whatever
    /// has a checkpoint's name is whole and on the device.
    /// </summary>
    [Theory]
    [InlineData(FileFault.InputOutput, false)]
    [InlineData(FileFault.InputOutput, true)]
    [InlineData(FileFault.NoSpace, false)]
    [InlineData(FileFault.NoSpace, true)]
    public void Recover_AfterAnyOperationFailed_CheckpointsHaveTheirLog(FileFault fault, bool forGood)
    {
        int failures = 0, checkpoints = 0;
        (int first, int step) = TestScale.Sample(5);
        for (long at = 1 + first; ; at += step)
        {
            var life = new TruncationScenario();
            life.Disk.Faults.FailNth(at, fault, forGood, fault == FileFault.NoSpace ? static o => o.Changes : null);
            life.Run();
            if (life.Disk.Faults.Fired == 0) break;
            failures++;
            life.Disk.Faults.Clear();
            SimulatedFileSystem disk = life.Disk.Copy();
            if (at % 2 == 0) disk.PowerLoss((ulong)at);
            string what = $"operation {at} failed with {fault}, for good: {forGood}";
            checkpoints += CheckNames(disk, what);
            life.Check(disk, what);
        }
        Assert.True(failures > 200 / step, $"{failures} failures");
        Assert.True(checkpoints > 300 / step, $"{checkpoints} checkpoints looked at");
    }

    [Fact]
    public void Run_WithoutFaults_RecyclesAndTruncates()
    {
        var life = new TruncationScenario();
        Assert.False(life.Run());
        Assert.True(life.Recycled >= 2, $"{life.Recycled} recycled");
        Assert.Equal(1, life.Check(life.Disk.Copy(), "healthy"));
    }

    /// <summary>
    /// The control: a segment too many that is gone, and a checkpoint that lies about its page, are noticed by the same check.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Check_PlantedFault_IsNoticed(bool isCheckpoint)
    {
        var life = new TruncationScenario();
        Assert.False(life.Run());
        Assert.Equal(1, life.Check(life.Disk.Copy(), "healthy"));
        SimulatedFileSystem disk = life.Disk.Copy();
        SimulatedProcess process = disk.ForProcess("planted");
        if (isCheckpoint) disk.FlipBit(Path.Combine(Dir, CheckpointDirectory.List(process, Dir)[^1].ToString()), 100, 1);
        else process.Delete(LogChain.Load(process, Dir, InstanceDirectory.TryRead(process, Dir)!).Segments[0].Path);
        Assert.ThrowsAny<Exception>(() => life.Check(disk, "planted"));
    }

    /// <summary>Asserts that each file which has a checkpoint's name verifies, and returns how many there are.</summary>
    private static int CheckNames(SimulatedFileSystem disk, string what)
    {
        SimulatedProcess process = disk.ForProcess("look");
        int count = 0;
        foreach (CheckpointFileName name in CheckpointDirectory.List(process, Dir))
        {
            Assert.True(
                CheckpointDirectory.IsValid(process, Dir, name, InstanceDirectory.TryRead(process, Dir)!), $"{what}: {name} is not whole");
            count++;
        }
        process.Kill();
        return count;
    }
}
