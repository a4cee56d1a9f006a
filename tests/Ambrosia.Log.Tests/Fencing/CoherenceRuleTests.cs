using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// Where machines share a directory, a replica takes the place of nobody who might not see that its name is gone (L7.10).
/// </summary>
public sealed class CoherenceRuleTests : IDisposable
{
    private static readonly MountId s_here = new(new Guid("11111111-2222-3333-4444-555555555555"), 39),
        s_there = s_here with { Device = 40 };

    private readonly TemporaryDirectory _directory = new();
    private readonly PosixFileSystem _fs = new();
    private readonly InstanceIdentity _identity;

    public CoherenceRuleTests() => _identity = Primary.Create(_fs, Dir);

    private string Dir => Path.Combine(_directory.Path, "counter");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Claim_OfAnInstanceThatNobodyWasPrimaryOf_IsFree() => Assert.Equal(new Epoch(1), Claim(Rule(s_here), "r0").Epoch);

    [Fact]
    public void Claim_BehindAPrimaryOfTheSameMount_IsFree()
    {
        Claim(Rule(s_here), "r0");
        Assert.Equal(new Epoch(2), Claim(Rule(s_here), "r1").Epoch);
    }

    [Fact]
    public void Claim_BehindAPrimaryOfAnotherMount_WaitsForTheProof_AndMakesNothing()
    {
        Claim(Rule(s_there), "r0");
        CoherenceRule rule = Rule(s_here);
        IReadOnlyList<string> before = _fs.List(Dir);
        Assert.Equal(new Epoch(1), Assert.IsType<ClaimResult.Unproven>(Try(rule, "r1")).Epoch);
        Assert.Equal(before, _fs.List(Dir));
        rule.Prove(new Epoch(1));
        Assert.Equal(new Epoch(2), Claim(rule, "r1").Epoch);
    }

    [Fact]
    public void Claim_OverTheLockOfAHangingPrimary_NeedsTheProofAsWell()
    {
        using PrimaryLock hanging = ((ClaimResult.Claimed)Try(Rule(s_there), "r0")).PrimaryLock;
        ClaimResult result = PrimaryClaim.TryClaim(_fs, Dir, _identity, "r1", ICrashPoints.None, new Epoch(1), Rule(s_here));
        Assert.IsType<ClaimResult.Unproven>(result);
    }

    /// <summary>What was shown with one primary says nothing of the mount of the next one.</summary>
    [Fact]
    public void Claim_BehindASuccessorOfWhomItWasProvedWith_WaitsAgain()
    {
        Claim(Rule(s_there), "r0");
        CoherenceRule rule = Rule(s_here);
        rule.Prove(new Epoch(1));
        Claim(Rule(s_there), "r2");
        Assert.IsType<ClaimResult.Unproven>(Try(rule, "r1"));
    }

    /// <summary>A primary that was started before there was this rule, or on one machine, says nothing of its mount.</summary>
    [Fact]
    public void Claim_BehindAPrimaryThatSaysNothing_WaitsForTheProof()
    {
        Claim(null, "r0");
        Assert.IsType<ClaimResult.Unproven>(Try(Rule(s_here), "r1"));
        Assert.IsType<ClaimResult.Unproven>(Try(Rule(default), "r1"));
    }

    [Fact]
    public void Look_OfOneThatIsAlone_LetsItClaimOnceNothingHasMovedForAMinute()
    {
        using (PrimaryLock dead = ((ClaimResult.Claimed)Try(Rule(s_there), "r0")).PrimaryLock) dead.Beat();
        CoherenceRule alone = Rule(s_here, isAlone: true), waits = Rule(s_here);
        foreach (CoherenceRule rule in (CoherenceRule[])[alone, waits])
            for (int s = 0; s < 60; s++)
            {
                Assert.Equal((new Epoch(1), false), rule.Look(TimeSpan.FromSeconds(1000 + s)));
                Assert.False(rule.MayFollow(new Epoch(1)));
            }
        alone.Look(TimeSpan.FromSeconds(1060));
        waits.Look(TimeSpan.FromSeconds(1060));
        Assert.IsType<ClaimResult.Unproven>(Try(waits, "r1"));
        Assert.Equal(new Epoch(2), Claim(alone, "r1").Epoch);
    }

    /// <summary>Where locks do not reach other machines, a heartbeat is all that shows a living primary.</summary>
    [Fact]
    public void Look_WhileAHeartbeatOrALockShowsAPrimary_LetsNobodyClaim()
    {
        PrimaryLock living = ((ClaimResult.Claimed)Try(Rule(s_there), "r0")).PrimaryLock;
        CoherenceRule rule = Rule(s_here, isAlone: true);
        for (int s = 0; s < 200; s++) Assert.True(rule.Look(TimeSpan.FromSeconds(s)).HasPrimary);
        string path = living.Path;
        living.Dispose();
        for (int s = 200; s < 400; s += 50)
        {
            using (IFile file = _fs.Open(path, FileUse.ReadWrite)) file.Write(BitConverter.GetBytes((ulong)s), 0);
            rule.Look(TimeSpan.FromSeconds(s));
            Assert.False(rule.MayFollow(new Epoch(1)));
        }
    }

    [Fact]
    public void MountId_WrittenAndRead_IsTheSame()
    {
        Span<byte> bytes = stackalloc byte[MountId.Bytes];
        s_here.Write(bytes);
        Assert.Equal(s_here, MountId.Read(bytes));
        Assert.Equal("11111111222233334444555555555555" + "2700000000000000", Convert.ToHexString(bytes));
    }

    private CoherenceRule Rule(MountId mount, bool isAlone = false) => new(_fs, Dir, _identity, mount, isAlone);

    private ClaimResult Try(CoherenceRule? rule, string replica) =>
        PrimaryClaim.TryClaim(_fs, Dir, _identity, replica, ICrashPoints.None, coherence: rule);

    private ClaimResult.Claimed Claim(CoherenceRule? rule, string replica)
    {
        var claimed = Assert.IsType<ClaimResult.Claimed>(Try(rule, replica));
        claimed.PrimaryLock.Dispose();
        return claimed;
    }
}
