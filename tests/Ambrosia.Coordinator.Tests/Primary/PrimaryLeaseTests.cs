using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What a primary may do when time has passed without it, and how others tell that it hangs.</summary>
public sealed class PrimaryLeaseTests
{
    private const string Directory = "/data/self";
    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly InstanceIdentity _identity;

    public PrimaryLeaseTests()
    {
        _disk.CreateDirectory("/data");
        _identity = InstanceDirectory.Create(_disk, Directory, "self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1, "r0",
            ICrashPoints.None);
    }

    private ClaimResult.Claimed Claim(string replica, Epoch? over = null) =>
        Assert.IsType<ClaimResult.Claimed>(
            PrimaryClaim.TryClaim(_disk.ForProcess(replica), Directory, _identity, replica, ICrashPoints.None, over));

    private PrimaryLease Begin(ClaimResult.Claimed claimed) => new(claimed.Fence, claimed.PrimaryLock, _time, TimeSpan.FromSeconds(2));

    [Theory]
    [InlineData(ExitCodes.Io), InlineData(ExitCodes.Damage)]
    public void ExitCode_FilesChangedByALaterPrimary_IsThatOfAFormerPrimary(int code)
    {
        Fence fence = Claim("r0").Fence;
        Assert.Equal((code, "gone"), ExitCodes.Regarding(fence, code, "gone"));
        Claim("r1", over: fence.Epoch);
        (int told, string why) = ExitCodes.Regarding(fence, code, "gone");
        Assert.Equal(ExitCodes.NotPrimary, told);
        Assert.Contains("gone", why);
        Assert.Equal((ExitCodes.Divergence, "differs"), ExitCodes.Regarding(fence, ExitCodes.Divergence, "differs"));
    }

    [Fact]
    public void IsFresh_StoppedForLonger_NotUntilTheFenceWasRead()
    {
        PrimaryLease lease = Begin(Claim("r0"));
        Assert.True(lease.IsFresh);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.False(lease.IsFresh);
        Assert.True(lease.Check(mayBeat: true), "those who were silent are to be woken");
        Assert.True(lease.IsFresh);
        Assert.False(lease.Check(mayBeat: true));
    }

    [Fact]
    public void Check_AnotherHasClaimed_Throws()
    {
        ClaimResult.Claimed old = Claim("r0");
        PrimaryLease lease = Begin(old);
        Claim("r1", old.Epoch);
        _time.Advance(TimeSpan.FromSeconds(9));
        Assert.Throws<FenceLostException>(() => lease.Check(mayBeat: true));
        Assert.False(lease.IsFresh);
    }

    [Fact]
    public void Beat_OnlyWhenDueAndNoFlushIsOut()
    {
        ClaimResult.Claimed claimed = Claim("r0");
        PrimaryLease lease = Begin(claimed);
        ulong Beats() => PrimaryLock.ReadBeat(_disk, claimed.PrimaryLock.Path)!.Value;
        lease.Check(mayBeat: false);
        Assert.Equal(0ul, Beats());
        lease.Committed();
        lease.Committed();
        Assert.Equal(1ul, Beats()); // a beat for each time that it was due, however many commits there are
        lease.BeatSoon();
        lease.Committed();
        Assert.Equal(2ul, Beats());
        lease.Check(mayBeat: true);
        Assert.Equal(3ul, Beats());
    }

    [Fact]
    public void Hangs_BeatMoves_Never()
    {
        var watch = new HangDetector(TimeSpan.FromSeconds(4));
        for (int second = 0; second < 60; second += 3)
            Assert.False(watch.Hangs(new Epoch(1), (ulong)second + 1, TimeSpan.FromSeconds(second)));
    }

    [Fact]
    public void Hangs_BeatStandsStillForTheLimit_YesAndNotBefore()
    {
        var watch = new HangDetector(TimeSpan.FromSeconds(4));
        Assert.False(watch.Hangs(new Epoch(1), 7, TimeSpan.FromSeconds(10)));
        Assert.False(watch.Hangs(new Epoch(1), 7, TimeSpan.FromSeconds(13.9)));
        Assert.True(watch.Hangs(new Epoch(1), 7, TimeSpan.FromSeconds(14)));
        Assert.False(watch.Hangs(new Epoch(2), 7, TimeSpan.FromSeconds(15)), "another primary");
        watch.Forget();
        Assert.False(watch.Hangs(new Epoch(2), 7, TimeSpan.FromSeconds(99)), "the observer did not look");
    }

    /// <summary>Before its first beat a primary reads the log's tail, which takes its time.</summary>
    [Fact]
    public void Hangs_NoBeatYet_IsGivenMoreTime()
    {
        var watch = new HangDetector(TimeSpan.FromSeconds(4));
        Assert.False(watch.Hangs(new Epoch(1), 0, TimeSpan.Zero));
        Assert.False(watch.Hangs(new Epoch(1), 0, TimeSpan.FromSeconds(31)));
        Assert.True(watch.Hangs(new Epoch(1), 0, TimeSpan.FromSeconds(32)));
    }
}
