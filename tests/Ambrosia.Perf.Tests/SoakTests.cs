using Ambrosia.Log.Format;

namespace Ambrosia.Perf.Tests;

/// <summary>1 GiB of log through files that are written again and again: disk and memory stay bounded.</summary>
public sealed class SoakTests : IDisposable
{
    private const long SegmentBytes = 8L << 20;

    private readonly string _directory = Directory.CreateTempSubdirectory("ambrosia-soak-").FullName;

    [Fact]
    public void Soak_FarMoreLogThanIsKept_DiskAndMemoryStayBounded()
    {
        var cluster = new ClusterOptions(_directory, TimeSpan.FromMinutes(5));
        SoakResult found = new SoakCommand(cluster, LogWriteMode.Auto).Run(1L << 30, SegmentBytes);
        Assert.Equal(4, found.Stretches.Count);
        Assert.True(found.Recycled > found.Rotations / 2, $"{found.Recycled} files written again in {found.Rotations} rotations");
    }

    /// <summary>The control: growth is noticed.</summary>
    [Theory]
    [InlineData(100, 1)]
    [InlineData(1, 100)]
    public void Check_GrowthOfDiskOrMemory_IsNoticed(long disk, long memory)
    {
        const long mebibyte = 1 << 20;
        var good = new SoakStretch(1, 1, 10 * mebibyte, 50 * mebibyte);
        SoakCommand.Check(new SoakResult(0, 0, 0, 0, 0, [good, good]), 60 * mebibyte);
        var grown = new SoakStretch(2, 1, good.DiskBytes * disk, good.ResidentBytes * memory);
        Assert.Throws<FailedRoundException>(() => SoakCommand.Check(new SoakResult(0, 0, 0, 0, 0, [good, grown]), 60 * mebibyte));
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
