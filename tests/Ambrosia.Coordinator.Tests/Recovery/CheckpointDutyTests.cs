using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

/// <summary>When a checkpoint is due. Time is what the ticks say.</summary>
public sealed class CheckpointDutyTests
{
    private static readonly DateTimeOffset start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly EmittedBytes none = default;

    [Fact]
    public void Claim_BySize_OnceAtATimeAndAgainBehindThePublishedOne()
    {
        var duty = new CheckpointDuty(1000);
        Assert.False(duty.Claim(new Lsn(999), none, start));
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        Assert.False(duty.Claim(new Lsn(5000), none, start));
        duty.Published(At(1100), new Lsn(1200));
        Assert.False(duty.Claim(new Lsn(2099), none, start));
        Assert.True(duty.Claim(new Lsn(2100), none, start));
    }

    /// <summary>
    /// Few inputs with many outputs make a long replay too; what was emitted before the last one's mark is no part of it.
    /// </summary>
    [Fact]
    public void Claim_ByOutputs_CountsThemForAShareOfTheLog()
    {
        var duty = new CheckpointDuty(1000);
        Assert.False(duty.Claim(new Lsn(600), Emitted((400 * CheckpointDuty.OutputShare) - 1), start));
        Assert.True(duty.Claim(new Lsn(600), Emitted(400 * CheckpointDuty.OutputShare), start));
        duty.Published(At(700), new Lsn(800));
        Assert.False(duty.Claim(new Lsn(800), Emitted((1300 * CheckpointDuty.OutputShare) - 1), start));
        Assert.True(duty.Claim(new Lsn(800), Emitted(1300 * CheckpointDuty.OutputShare), start));
    }

    /// <summary>A checkpoint holds what is kept for a peer that is away: it must not be written again and again.</summary>
    [Fact]
    public void Claim_ByOutputsThatSpill_WaitsForAsManyMore()
    {
        var duty = new CheckpointDuty(1000);
        EmittedBytes kept = new(4000 * CheckpointDuty.OutputShare, 3500);
        Assert.False(duty.Claim(new Lsn(100), kept, start));
        Assert.True(duty.Claim(new Lsn(100), kept with { Spilled = 3100 }, start));
    }

    /// <summary>Another replica's file is found while a tick is under way with what it read as durable before.</summary>
    [Fact]
    public void Claim_BelowTheNewestCheckpoint_WaitsForItsSizeBeyond()
    {
        var duty = new CheckpointDuty(1000);
        duty.Found(At(5000), start);
        Assert.False(duty.Claim(new Lsn(4000), none, start));
        Assert.True(duty.Claim(new Lsn(6000), none, start));
    }

    [Fact]
    public void Claim_AfterFailures_PausesLongerEachTimeUntilOneIsPublished()
    {
        var duty = new CheckpointDuty(1000);
        DateTimeOffset now = start;
        foreach (int seconds in (int[])[1, 2, 4, 8, 16, 32, 60, 60])
        {
            Assert.True(duty.Claim(new Lsn(1000), none, now));
            duty.Failed("no");
            Assert.False(duty.Claim(new Lsn(1000), none, now.AddSeconds(seconds - 0.001)));
            now = now.AddSeconds(seconds);
        }
        Assert.True(duty.Claim(new Lsn(1000), none, now));
        duty.Published(At(1000), new Lsn(1000));
        Assert.True(duty.Claim(new Lsn(2000), none, now));
        duty.Failed("no");
        Assert.True(duty.Claim(new Lsn(2000), none, now.AddSeconds(1)));
        Assert.Equal(9, duty.News.Failures);
    }

    [Fact]
    public void Claim_NoRoomForTheMark_ComesAgainAtOnceAndIsNoFailure()
    {
        var duty = new CheckpointDuty(1000);
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        duty.GiveBack();
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        Assert.Equal(0, duty.News.Failures);
    }

    [Fact]
    public void Request_WhileOneIsUnderWay_WantsAnotherBehindIt()
    {
        var duty = new CheckpointDuty(1000);
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        duty.Request(new Lsn(1500));
        duty.Published(At(1100), new Lsn(1600));
        Assert.True(duty.IsDue);
        Assert.True(duty.Claim(new Lsn(1600), none, start));
        duty.Published(At(1600), new Lsn(1700));
        Assert.False(duty.IsDue || duty.Claim(new Lsn(1700), none, start));
    }

    [Fact]
    public void Request_AfterAFailure_DoesNotWaitForThePause()
    {
        var duty = new CheckpointDuty(1000);
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        duty.Failed("no");
        duty.Request(new Lsn(1000));
        Assert.True(duty.Claim(new Lsn(1000), none, start));
    }

    [Fact]
    public void Claim_ByTime_OnlyWhereTheLogHasGrown()
    {
        var duty = new CheckpointDuty(long.MaxValue, TimeSpan.FromMinutes(10));
        Assert.False(duty.Claim(new Lsn(4096), none, start));
        Assert.False(duty.Claim(new Lsn(4096), none, start.AddMinutes(9.99)));
        Assert.True(duty.Claim(new Lsn(4096), none, start.AddMinutes(10)));
        duty.Published(At(4000), new Lsn(8192));
        Assert.False(duty.Claim(new Lsn(8192), none, start.AddDays(1)));
        Assert.True(duty.Claim(new Lsn(12288), none, start.AddDays(1)));
    }

    [Fact]
    public void Claim_ByTime_CountsFromTheCheckpointThatTheStartFound()
    {
        var duty = new CheckpointDuty(long.MaxValue, TimeSpan.FromMinutes(10));
        duty.Found(At(4000), start.AddMinutes(-7));
        Assert.False(duty.Claim(new Lsn(8192), none, start.AddMinutes(2.99)));
        Assert.True(duty.Claim(new Lsn(8192), none, start.AddMinutes(3)));
    }

    /// <summary>Whatever the clock does, checkpoints go on within their interval, or a minute after a failure.</summary>
    [Fact]
    public void Claim_ClockSetBack_DoesNotStopCheckpoints()
    {
        var duty = new CheckpointDuty(1000, TimeSpan.FromMinutes(10));
        duty.Found(At(400), start.AddYears(1));
        Assert.False(duty.Claim(new Lsn(500), none, start));
        Assert.True(duty.Claim(new Lsn(500), none, start.AddMinutes(10)));
        duty.Failed("no");
        Assert.True(duty.Claim(new Lsn(1400), none, start.AddDays(-1)));
    }

    [Fact]
    public void SessionEnded_OneUnderWay_IsAFailureWithoutAPause()
    {
        var duty = new CheckpointDuty(1000);
        duty.SessionEnded();
        Assert.Equal(0, duty.News.Failures);
        Assert.True(duty.Claim(new Lsn(1000), none, start));
        duty.SessionEnded();
        Assert.Equal(1, duty.News.Failures);
        Assert.True(duty.Claim(new Lsn(1000), none, start));
    }

    private static EmittedBytes Emitted(long bytes) => new(bytes, 0);

    private static CheckpointFileName At(ulong lsn) => new(new Lsn(lsn), new Epoch(1), "r0");
}
