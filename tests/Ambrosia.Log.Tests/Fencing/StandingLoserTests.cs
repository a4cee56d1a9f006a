using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// A claimer that has lost and was stopped, or killed, before it removed its own lock: it is not waited for in the primary's place. Its
/// name is the first of a listing.
/// </summary>
public sealed class StandingLoserTests : IDisposable
{
    private static readonly MountId s_mount = new(Guid.Parse("11111111-1111-1111-1111-111111111111"), 7);

    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();
    private readonly InstanceIdentity _identity;

    public StandingLoserTests() => _identity = Primary.Create(_fs, Dir);

    private string Dir => Path.Combine(_directory.Path, "counter");

    private string Loser => Path.Combine(Dir, "primary.1.a");

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void TryClaim_LoserStandsStill_WaitsForThePrimaryAlone(bool hasBeaten)
    {
        using IFileLock loser = _fs.TryLock(Loser)!;
        var primary = Claim("r0");
        if (hasBeaten) primary.PrimaryLock.Beat();
        var held = Assert.IsType<ClaimResult.Held>(Try("r1"));
        Assert.Equal(Path.Combine(Dir, "primary.1.r0"), held.LockPath);
        primary.PrimaryLock.Dispose();
        Assert.False(PrimaryClaim.HasPrimary(_fs, Dir, _identity));
        Claim("r1").PrimaryLock.Dispose(); // the loser still stands there
    }

    /// <summary>A build that does not say that it has won is known by its heartbeat.</summary>
    [Fact]
    public void TryClaim_PrimaryOfAnOlderBuild_IsKnownByItsBeat()
    {
        using IFileLock loser = _fs.TryLock(Loser)!;
        Claim("r0").PrimaryLock.Dispose();
        using (IFileLock older = _fs.TryLock(Path.Combine(Dir, "primary.1.r0"))!)
        {
            older.File.SetLength(0);
            older.File.Write([3, 0, 0, 0, 0, 0, 0, 0], 0);
            Assert.EndsWith("primary.1.r0", Assert.IsType<ClaimResult.Held>(Try("r1")).LockPath);
        }
        Claim("r1").PrimaryLock.Dispose();
    }

    /// <summary>While it is not known who has won, all are waited for: the winner may be stopped, too.</summary>
    [Fact]
    public void TryClaim_NoneIsKnownToHaveWon_WaitsForEach()
    {
        using IFileLock loser = _fs.TryLock(Loser)!;
        Assert.NotNull(Fence.TryClaim(_fs, Dir, _identity, new Epoch(0)));
        Assert.Equal(Loser, Assert.IsType<ClaimResult.Held>(Try("r1")).LockPath);
    }

    /// <summary>An observer that took the loser for the primary watches the primary as soon as that is known.</summary>
    [Fact]
    public void Watched_LoserWasSeenFirst_IsThePrimaryOnceItHasWon()
    {
        using IFileLock loser = _fs.TryLock(Loser)!;
        string own = Path.Combine(Dir, "primary.1.r0");
        using IFileLock winner = _fs.TryLock(own)!;
        Assert.NotNull(Fence.TryClaim(_fs, Dir, _identity, new Epoch(0)));
        Assert.Equal(Loser, PrimaryLock.Watched(_fs, Dir, new Epoch(1), Loser));
        PrimaryLock.WriteWon(winner);
        Assert.Equal(own, PrimaryLock.Watched(_fs, Dir, new Epoch(1), Loser));
        Assert.Equal(own, PrimaryLock.Watched(_fs, Dir, new Epoch(1), own));
    }

    /// <summary>
    /// Where machines share the directory a loser that was killed left its lock behind, and nobody could tell the primary's mount any more.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void MayFollow_LoserLeftItsLock_GoesByThePrimarysMount(bool isKilled)
    {
        IFileLock loser = _fs.TryLock(Loser)!;
        PrimaryLock.WriteClaim(loser, new MountId(Guid.Parse("22222222-2222-2222-2222-222222222222"), 7), ClaimHistory.None);
        if (isKilled) loser.Dispose();
        var rule = new CoherenceRule(_fs, Dir, _identity, s_mount, isAlone: false);
        var primary = Assert.IsType<ClaimResult.Claimed>(
            PrimaryClaim.TryClaim(_fs, Dir, _identity, "r0", ICrashPoints.None, coherence: rule));
        Assert.True(rule.MayFollow(new Epoch(1)));
        primary.PrimaryLock.Dispose();
        loser.Dispose();
    }

    private ClaimResult.Claimed Claim(string replica) => Assert.IsType<ClaimResult.Claimed>(Try(replica));

    private ClaimResult Try(string replica) => PrimaryClaim.TryClaim(_fs, Dir, _identity, replica, ICrashPoints.None);

    public void Dispose() => _directory.Dispose();
}
