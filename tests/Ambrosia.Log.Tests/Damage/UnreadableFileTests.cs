using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Sectors that cannot be read any more, whoever reads: in a file that may be missing they are as a checksum that does not hold, in a
/// segment they are a halt.
/// </summary>
public sealed class UnreadableFileTests
{
    private const string Dir = TruncationScenario.Dir;

    /// <summary>The control: a flipped bit has the same answer.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Truncate_SecondNewestCheckpointDamagedOrUnreadable_PassesOverIt(bool isUnreadable)
    {
        SimulatedFileSystem disk = NewDisk();
        using Primary primary = Primary.Start(disk, Dir, TruncationScenario.Options);
        for (int i = 0; i < 3; i++) Publish(disk, primary);
        string bad = Path.Combine(Dir, CheckpointDirectory.List(disk, Dir)[1].ToString());
        if (isUnreadable) disk.MakeUnreadable(bad, 0, 1);
        else disk.FlipBit(bad, 100, 1);
        TruncateResult result = primary.Truncate(disk, Dir);
        Assert.Equal(Path.GetFileName(bad), Assert.Single(result.Damaged).ToString());
    }

    /// <summary>A start that only looks what a checkpoint is of passes over one that it cannot read, too.</summary>
    [Fact]
    public void TryReadHeader_CheckpointUnreadable_SaysNothingOfIt()
    {
        SimulatedFileSystem disk = NewDisk();
        using Primary primary = Primary.Start(disk, Dir, TruncationScenario.Options);
        Publish(disk, primary);
        CheckpointFileName name = Assert.Single(CheckpointDirectory.List(disk, Dir));
        var location = new LogLocation(disk, Dir, primary.Identity);
        Assert.NotNull(CheckpointReader.TryReadHeader(location, name));
        disk.MakeUnreadable(Path.Combine(Dir, name.ToString()), 0, 1);
        Assert.Null(CheckpointReader.TryReadHeader(location, name));
    }

    /// <summary>A sector that goes bad between the look at a checkpoint and the session that begins with it.</summary>
    [Fact]
    public void Read_CheckpointUnreadableSinceItWasOpened_IsDamageOfIt()
    {
        SimulatedFileSystem disk = NewDisk();
        using Primary primary = Primary.Start(disk, Dir, TruncationScenario.Options);
        Publish(disk, primary);
        string path = Path.Combine(Dir, Assert.Single(CheckpointDirectory.List(disk, Dir)).ToString());
        using CheckpointReader reader = CheckpointReader.Open(disk, path, primary.Identity);
        disk.MakeUnreadable(path, 0, 1);
        reader.Rewind();
        Assert.Equal(path, Assert.Throws<LogDamage>(() => reader.Read(out _, out _)).File);
    }

    [Fact]
    public void TakeOver_PageUnreadable_HaltsAndNamesIt()
    {
        SimulatedFileSystem disk = NewDisk();
        using (Primary primary = Primary.Start(disk, Dir)) primary.Fill(4);
        string segment = Path.Combine(Dir, "log.1.1");
        disk.MakeUnreadable(segment, SegmentHeader.Bytes + (12 << 10), 1);
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(disk, Dir, replica: "r1"));
        Assert.Equal((segment, SegmentHeader.Bytes + (12 << 10)), (damage.File, damage.Offset));
        Assert.Contains("EIO", damage.Found, StringComparison.Ordinal);
    }

    /// <summary>Behind the end of the log nothing should stand; what cannot be read there may be what states the end as durable.</summary>
    [Fact]
    public void TakeOver_BlockBehindTheEndUnreadable_Halts()
    {
        SimulatedFileSystem disk = NewDisk();
        long end;
        using (Primary primary = Primary.Start(disk, Dir))
        {
            primary.Fill(2);
            while (primary.Writer.PrepareSpace()) { }
            end = SegmentHeader.Bytes + (long)primary.Writer.Tail.Value;
        }
        string segment = Path.Combine(Dir, "log.1.1");
        disk.MakeUnreadable(segment, end + (8 << 10), 1);
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(disk, Dir, replica: "r1"));
        Assert.Equal((segment, end + (8 << 10)), (damage.File, damage.Offset));
    }

    [Fact]
    public void Scan_PageUnreadable_GoesOnBehindItWhereAsked()
    {
        SimulatedFileSystem disk = NewDisk();
        int records;
        using (Primary primary = Primary.Start(disk, Dir)) records = primary.Fill(6).Count;
        disk.MakeUnreadable(Path.Combine(Dir, "log.1.1"), SegmentHeader.Bytes + (12 << 10), 1);
        using LogScan scan = LogScan.Open(disk, Dir, Primary.Create(disk, Dir), new ScanOptions { GoesOn = true });
        int pages = 0;
        while (scan.Next()) pages++;
        Assert.IsType<ReadVerdict.Halt>(scan.Verdict);
        Assert.Equal(12 << 10, Assert.Single(scan.Lost).Bytes);
        Assert.Equal(records - 1, pages);
    }

    [Fact]
    public void Follow_PageOrHeaderUnreadable_IsDamage()
    {
        SimulatedFileSystem disk = NewDisk();
        using Primary primary = Primary.Start(disk, Dir);
        primary.Fill(2);
        using var follower = new LogFollower(disk, Dir, primary.Identity);
        while (follower.Step()) { }
        string segment = Path.Combine(Dir, "log.1.1");
        primary.Fill(1);
        disk.MakeUnreadable(segment, SegmentHeader.Bytes + (long)follower.Stated.Value + (12 << 10), 1);
        Assert.Equal(segment, Assert.Throws<LogDamage>(() => { while (follower.Step()) { } }).File);
        disk.MakeUnreadable(segment, 0, 1);
        LogDamage damage = Assert.Throws<LogDamage>(() => LogChain.Load(disk, Dir, primary.Identity));
        Assert.Equal((segment, 0), (damage.File, damage.Offset));
    }

    /// <summary>A heartbeat file is a hint, and so it may be missing.</summary>
    [Fact]
    public void Start_HeartbeatUnreadable_Starts()
    {
        SimulatedFileSystem disk = NewDisk();
        string beat;
        using (Primary primary = Primary.Start(disk.ForProcess("a"), Dir))
        {
            primary.Lock.Beat(1);
            primary.Fill(1);
            beat = primary.Lock.Path;
        }
        disk.MakeUnreadable(beat, 0, 1);
        Primary.Start(disk, Dir, replica: "r1").Dispose();
    }

    private static SimulatedFileSystem NewDisk()
    {
        var disk = new SimulatedFileSystem(1);
        disk.MakeDirectory("/data");
        return disk;
    }

    private static void Publish(IFileSystem files, Primary primary)
    {
        LoggedRecord last = primary.Append([1]);
        primary.Commit();
        if (primary.Writer.AppendMark()) primary.Commit();
        TruncationScenario.Publish(files, Dir, primary, last.Lsn);
    }
}
