using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A segment that is gone while another file still tells of it is missed at every start, and nothing but the claim is written.
/// </summary>
public sealed class MissingSegmentTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Execute_NewestSegmentIsGoneAndThePrimaryHadBeaten_HaltsAtEveryStart()
    {
        Live(beats: false);
        Live(beats: true);
        _fs.Delete($"{Dir}/log.2.2");
        AssertHaltsTwice("epoch 2");
    }

    [Fact]
    public void Execute_OnlySegmentIsGoneAndThePrimaryHadBeaten_HaltsAtEveryStart()
    {
        Live(beats: true);
        _fs.Delete($"{Dir}/log.1.1");
        AssertHaltsTwice("epoch 1");
    }

    [Fact]
    public void Execute_NewestSegmentIsGoneAndASpareOfItsEpochIsThere_HaltsAtEveryStart()
    {
        Live(beats: false);
        Live(beats: false, rotations: 1);
        foreach (string name in _fs.List(Dir).Where(static name => name.StartsWith("log.", StringComparison.Ordinal) && name != "log.1.1"))
            _fs.Delete($"{Dir}/{name}");
        _fs.Create($"{Dir}/spare.2.9").Dispose();
        AssertHaltsTwice("spare.2.9");
    }

    /// <summary>The epoch has another segment; only the number that the lock states tells of the one that was written last.</summary>
    [Fact]
    public void Execute_SegmentOfARotationIsGone_HaltsAtEveryStart()
    {
        ulong newest;
        using (Primary primary = Primary.Start(_fs, Dir))
        {
            primary.Fill(60);
            newest = primary.Writer.Segment;
            primary.Lock.Beat(newest);
        }
        Assert.True(newest > 1, "the log has rotated");
        _fs.Delete($"{Dir}/log.{newest}.1");
        AssertHaltsTwice($"log.{newest}.1");
    }

    /// <summary>A claim whose process died before its segment had a name promised nothing.</summary>
    [Fact]
    public void Execute_ClaimWithoutASegment_GoesOn()
    {
        Live(beats: true);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None)).PrimaryLock.Dispose();
        using Primary next = Primary.Start(_fs, Dir);
        Assert.Equal(2, next.Log.Chain.Segments.Length);
    }

    private void Live(bool beats, int rotations = 0)
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Fill(3 + 30 * rotations);
        if (beats) primary.Lock.Beat();
    }

    private void AssertHaltsTwice(string told)
    {
        for (int start = 0; start < 2; start++)
        {
            string[] before = Logs();
            LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir).Dispose());
            Assert.Contains(told, damage.Message, StringComparison.Ordinal);
            Assert.Equal(before, Logs());
            _fs.FreeLocks();
        }
    }

    /// <summary>Everything but fence and locks, which a claim changes.</summary>
    private string[] Logs() => [
        .. _fs.List(Dir).Where(static name =>
            !name.StartsWith("epoch.", StringComparison.Ordinal) && !name.StartsWith("primary.", StringComparison.Ordinal))];
}
