using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

public sealed class FenceTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();

    private string Dir => Path.Combine(_directory.Path, "counter");

    [Fact]
    public void TryClaim_OfTheSameEpoch_HasOneWinner()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        for (ulong epoch = 0; epoch < 50; epoch++)
        {
            var from = new Epoch(epoch);
            Assert.Equal(from, Fence.Current(_fs, Dir, identity));
            Fence?[] claims = new Fence?[4];
            Parallel.For(0, claims.Length, i => claims[i] = Fence.TryClaim(_fs, Dir, identity, from));
            Assert.Single(claims, c => c is not null);
        }
    }

    [Fact]
    public void Check_OwnEpoch_PassesUntilAnotherClaims()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        Fence first = Fence.TryClaim(_fs, Dir, identity, new Epoch(0))!;
        first.Check();
        Fence second = Fence.TryClaim(_fs, Dir, identity, new Epoch(1))!;
        second.Check();
        FenceLostException lost = Assert.Throws<FenceLostException>(first.Check);
        Assert.Equal(new Epoch(1), lost.Epoch);
        Assert.Contains("another process has claimed epoch 2", lost.Message, StringComparison.Ordinal);
    }

    /// <summary>An operator is told what is missing, and not of another process where there is none.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Check_RemovedByHand_SaysWhatIsMissing(bool withItsDirectory)
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        Fence own = Fence.TryClaim(_fs, Dir, identity, new Epoch(0))!;
        if (withItsDirectory) Directory.Delete(Dir, recursive: true);
        else _fs.Delete(Path.Combine(Dir, $"epoch.{identity.Uuid:D}.1"));
        string message = Assert.Throws<FenceLostException>(own.Check).Message;
        Assert.Contains("it was removed", message, StringComparison.Ordinal);
        Assert.DoesNotContain("another process", message, StringComparison.Ordinal);
    }

    [Fact]
    public void Current_FenceGone_Halts()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        _fs.Delete(Path.Combine(Dir, $"epoch.{identity.Uuid:D}.0"));
        Assert.Throws<LogDamage>(() => Fence.Current(_fs, Dir, identity));
    }

    [Fact]
    public async Task Try_WhileAPrimaryLives_IsHeldUntilItDies()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        Primary first = Primary.Start(_fs, Dir);
        var held = Assert.IsType<ClaimResult.Held>(PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None));
        Assert.Equal(Path.Combine(Dir, "primary.1.r0"), held.LockPath);
        Task<IFileLock?> waiting = Task.Run(() => _fs.WaitForLock(held.LockPath, CancellationToken.None));
        Assert.False(waiting.IsCompleted);
        first.Dispose();
        using (IFileLock? freed = await waiting) Assert.NotNull(freed);
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None));
        Assert.Equal(new Epoch(2), claimed.Epoch);
        claimed.PrimaryLock.Dispose();
    }

    [Fact]
    public void Try_SameReplicaTwice_IsHeldByItsFirst()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        using Primary first = Primary.Start(_fs, Dir);
        Assert.IsType<ClaimResult.Held>(PrimaryClaim.TryClaim(_fs, Dir, identity, "r0", ICrashPoints.None));
    }

    [Fact]
    public void Try_HangingPrimary_IsClaimedOverItsLock()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        using Primary hanging = Primary.Start(_fs, Dir);
        var claimed = Assert.IsType<ClaimResult.Claimed>(
            PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None, ignoreLocksOf: hanging.Fence.Epoch));
        Assert.Throws<FenceLostException>(hanging.Fence.Check);
        claimed.PrimaryLock.Dispose();
    }

    [Fact]
    public void Try_ManyAtOnce_OneIsPrimaryOfEachEpoch()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        var claims = new List<ClaimResult.Claimed>();
        Parallel.For(0, 6, new ParallelOptions { MaxDegreeOfParallelism = 6 }, i =>
        {
            for (int n = 0; n < 200; n++)
            {
                if (PrimaryClaim.TryClaim(_fs, Dir, identity, $"r{i}", ICrashPoints.None) is not ClaimResult.Claimed claimed) continue;
                lock (claims) claims.Add(claimed);
                claimed.PrimaryLock.Dispose();
            }
        });
        Assert.NotEmpty(claims);
        Assert.Equal(claims.Count, claims.Select(c => c.Epoch).Distinct().Count());
        Assert.Equal(new Epoch((ulong)claims.Count), Fence.Current(_fs, Dir, identity));
    }

    /// <summary>Peers know a claim by its number and by those before it; a file that was not written whole says none of them.</summary>
    [Fact]
    public void Claim_WithANumber_KnowsTheNumbersOfTheClaimsBeforeIt()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        PrimaryLock Claim(ulong number)
        {
            var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_fs, Dir, identity, "r0", ICrashPoints.None, number: number);
            claimed.PrimaryLock.Beat();
            claimed.PrimaryLock.Dispose();
            return claimed.PrimaryLock;
        }

        ClaimHistory first = Claim(7).Claims, later = first;
        Assert.Equal((new Epoch(1), 7ul), first.Last);
        for (ulong number = 8; number < 30; number++) later = Claim(number).Claims;
        Assert.Equal((29ul, 14ul, 0ul), (later.NumberOf(new Epoch(23)), later.NumberOf(new Epoch(8)), later.NumberOf(new Epoch(7))));
        Assert.True(later.Contradicts((new Epoch(9), 99)) && !later.Contradicts((new Epoch(9), 15)) && !later.Contradicts((new Epoch(2), 99)));

        PrimaryLock last = Claim(30);
        using (IFile file = _fs.Open(last.Path, FileUse.ReadWrite)) file.Write(new byte[] { 1 }, 60); // in the number of a claim
        Assert.Equal(ClaimHistory.None.With(new Epoch(25), 31), Claim(31).Claims);
        Assert.Equal(ClaimHistory.None.With(new Epoch(25), 31), Claim(0).Claims); // one that draws none, as an older build
        Assert.Equal(ClaimHistory.None.With(new Epoch(27), 33), Claim(33).Claims);
    }

    [Fact]
    public void Beat_ByThePrimary_IsSeenByAnObserver()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.Equal(0UL, PrimaryLock.ReadBeat(_fs, primary.Lock.Path));
        primary.Lock.Beat();
        primary.Lock.Beat();
        Assert.Equal(2UL, PrimaryLock.ReadBeat(_fs, primary.Lock.Path));
        Assert.Null(PrimaryLock.ReadBeat(_fs, primary.Lock.Path + "x"));
    }

    public void Dispose() => _directory.Dispose();
}
