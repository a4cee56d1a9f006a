using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Whole pages at the end of the newest segment became zeros: that looks like a log which ended before them. The heartbeat says how far the
/// log was durable.
/// </summary>
public sealed class ZeroedEndTests
{
    private const string Dir = TruncationScenario.Dir, Segment = Dir + "/log.1.1";

    private readonly SimulatedFileSystem _disk = new(1);

    public ZeroedEndTests() => _disk.MakeDirectory("/data");

    [Theory]
    [InlineData(4)]
    [InlineData(12)]
    [InlineData(24)]
    public void Start_LastPagesAreZeros_HaltsAndSaysWhatIsMissing(int kib)
    {
        Lsn durable = Live(beats: true);
        Zero(durable, kib << 10);
        for (int start = 0; start < 2; start++)
        {
            LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_disk, Dir, replica: "r1"));
            Assert.Equal(Segment, damage.File);
            Assert.Contains($"pages up to {durable}", damage.Message, StringComparison.Ordinal);
            Assert.Contains("primary.1.r0", damage.Message, StringComparison.Ordinal);
            Assert.Throws<LogDamage>(() => LogStart.Judge(new(_disk, Dir, Primary.Create(_disk, Dir)), out _));
            _disk.Kill(_disk.ForProcess("host"));
        }
        _disk.Delete(Dir + "/primary.1.r0"); // as the line says, for an operator who goes on without
        Primary.Start(_disk, Dir, replica: "r1").Dispose();
    }

    /// <summary>Where nothing says how far the log was durable, as with an older build, everything is as before.</summary>
    [Fact]
    public void Start_LastPagesAreZerosAndNothingTells_Starts()
    {
        Zero(Live(beats: false), 12 << 10);
        Primary.Start(_disk, Dir, replica: "r1").Dispose();
    }

    /// <summary>Pages behind the last beat may be lost: they were never acknowledged, or the power went with the disk's cache.</summary>
    [Fact]
    public void Start_OnlyPagesBehindTheLastBeatAreMissing_Starts()
    {
        Lsn durable;
        using (Primary primary = Primary.Start(_disk.ForProcess("a"), Dir))
        {
            primary.Fill(2);
            durable = primary.Writer.Durable;
            primary.Lock.Beat(primary.Writer.Segment, durable);
            primary.Fill(1);
            Zero(primary.Writer.Durable, 12 << 10);
        }
        using Primary next = Primary.Start(_disk, Dir, replica: "r1");
        Assert.Equal(durable, Assert.IsType<ReadVerdict.CleanEnd>(next.Log.Tail).End);
    }

    /// <summary>The next primary has kept what the first one's heartbeat tells of, and tells of its own.</summary>
    [Fact]
    public void Start_AfterTakeOvers_Starts()
    {
        Live(beats: true);
        for (int life = 1; life < 4; life++)
        {
            using Primary primary = Primary.Start(_disk.ForProcess($"p{life}"), Dir, replica: $"r{life % 3}");
            primary.Lock.Beat(primary.Writer.Segment, primary.Writer.Durable);
            primary.Fill(20 * life);
            primary.Lock.Beat(primary.Writer.Segment, primary.Writer.Durable);
        }
    }

    /// <summary>A full disk has no room for the lock's first block: the claim holds, and beats are tried later.</summary>
    [Fact]
    public void Claim_DiskIsFull_HoldsAndBeatsOnceThereIsSpace()
    {
        using (Primary first = Primary.Start(_disk.ForProcess("a"), Dir)) first.Fill(1);
        using Primary second = Primary.Start(_disk.ForProcess("b"), Dir, replica: "r1");
        _disk.CapacityBytes -= _disk.FreeBytes("/data");
        second.Lock.Beat(second.Writer.Segment, second.Writer.Durable); // its block was taken with the claim
        Assert.Equal(1ul, Ambrosia.Log.Fencing.PrimaryLock.ReadBeat(_disk, second.Lock.Path));
    }

    private Lsn Live(bool beats)
    {
        using Primary primary = Primary.Start(_disk.ForProcess("a"), Dir);
        primary.Fill(4);
        if (primary.Writer.AppendMark()) primary.Commit();
        if (beats) primary.Lock.Beat(primary.Writer.Segment, primary.Writer.Durable);
        return primary.Writer.Durable;
    }

    private void Zero(Lsn end, int bytes) =>
        _disk.Overwrite(Segment, SegmentHeader.Bytes + (long)end.Value - bytes, new byte[bytes]);
}
