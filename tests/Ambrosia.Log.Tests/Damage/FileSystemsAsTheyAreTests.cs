using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>Listings that show what is not there, and holes that are none: what file systems do and the log must not rest on.</summary>
public sealed class FileSystemsAsTheyAreTests
{
    private const string Dir = TruncationScenario.Dir, Head = Dir + "/log.9.1";

    private readonly SimulatedFileSystem _disk = new(1);

    public FileSystemsAsTheyAreTests() => _disk.MakeDirectory("/data");

    [Fact]
    public void Start_NewestSegmentIsListedAndNotThere_IsDamageThatNamesIt()
    {
        using (Primary primary = Primary.Start(_disk, Dir)) primary.Fill(2);
        _disk.AddGhost(Head);
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_disk, Dir, replica: "r1"));
        Assert.Equal((Head, true), (damage.File, damage.MayPass));
        Assert.Equal(Head, Assert.Throws<LogDamage>(() => LogStart.Judge(Location(), out _)).File);
        using LogScan scan = LogScan.Open(_disk, Dir, Primary.Create(_disk, Dir));
        Assert.False(scan.Next());
        Assert.Equal(Head, Assert.IsType<ReadVerdict.Halt>(scan.Verdict).Damage.File);
    }

    [Fact]
    public void Start_ListingWasOlderThanTheFiles_Starts()
    {
        using (Primary primary = Primary.Start(_disk, Dir)) primary.Fill(2);
        _disk.AddGhost(Head, listings: 5);
        Assert.Single(LogChain.Load(_disk, Dir, Primary.Create(_disk, Dir)).Segments);
    }

    [Fact]
    public void Follow_ListingIsOlderForAWhile_WaitsAndThenCallsItDamage()
    {
        using Primary primary = Primary.Start(_disk, Dir);
        primary.Fill(2);
        using var follower = new LogFollower(_disk, Dir, primary.Identity);
        while (follower.Step()) { }
        for (int life = 0; life < 2; life++)
        {
            primary.Fill(40); // rotates, so that the follower lists
            _disk.AddGhost(Head, listings: 100);
            for (int i = 0; i < 100; i++) follower.Step();
            while (follower.Step()) { }
            Assert.Equal(primary.Writer.Stated, follower.Stated);
        }
        primary.Fill(40);
        _disk.AddGhost(Head);
        Assert.Equal(Head, Assert.Throws<LogDamage>(() =>
        {
            for (int i = 0; i < 10_000; i++) follower.Step();
        }).File);
    }

    /// <summary>A page behind damage states more as durable, and the file system calls its place a hole.</summary>
    [Fact]
    public void Start_PagesBehindDamageAreCalledHoles_HaltsAllTheSame()
    {
        using (Primary primary = Primary.Start(_disk, Dir)) primary.Fill(6);
        string segment = Dir + "/log.1.1";
        _disk.FlipBit(segment, SegmentHeader.Bytes + (24 << 10) + 2_000, 3);
        _disk.TakeForHole(segment, SegmentHeader.Bytes + (36 << 10), 36 << 10);
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_disk, Dir, replica: "r1"));
        Assert.Equal(SegmentHeader.Bytes + (24 << 10), damage.Offset);
    }

    /// <summary>The same for a reader that goes on behind damage: it finds the next page.</summary>
    [Fact]
    public void Scan_PagesBehindDamageAreCalledHoles_FindsThem()
    {
        using (Primary primary = Primary.Start(_disk, Dir)) primary.Fill(6);
        string segment = Dir + "/log.1.1";
        _disk.FlipBit(segment, SegmentHeader.Bytes + (24 << 10) + 2_000, 3);
        _disk.TakeForHole(segment, SegmentHeader.Bytes + (36 << 10), 36 << 10);
        using LogScan scan = LogScan.Open(_disk, Dir, Primary.Create(_disk, Dir), new ScanOptions { GoesOn = true });
        int pages = 0;
        while (scan.Next()) pages++;
        Assert.Equal(5, pages);
    }

    private Ambrosia.Log.Instances.LogLocation Location() => new(_disk, Dir, Primary.Create(_disk, Dir));
}
