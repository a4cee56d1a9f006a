using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

/// <summary>When a checkpoint is due. Time is what the ticks say.</summary>
public sealed class CheckpointTriggerTests
{
    private static readonly TimeSpan s_start = TimeSpan.FromDays(2);
    private static readonly EmittedBytes s_none = default;

    [Fact]
    public void Status_OfARefusedState_NamesItUntilOneIsWritten()
    {
        var trigger = new CheckpointTrigger(1000);

        Assert.True(trigger.Refused("field A.B"));
        Assert.False(trigger.Refused("field A.B"));
        Assert.True(trigger.Refused("field A.C"));
        Assert.Equal("field A.C", trigger.Status.Refusal);
        trigger.Written();
        Assert.Null(trigger.Status.Refusal);
        Assert.True(trigger.Refused("field A.C"));
    }

    [Fact]
    public void Claim_BySize_OnceAtATimeAndAgainBehindThePublishedOne()
    {
        var trigger = new CheckpointTrigger(1000);
        Assert.False(trigger.Claim(new Lsn(999), s_none, s_start));
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        Assert.False(trigger.Claim(new Lsn(5000), s_none, s_start));
        trigger.Published(At(1100));
        Assert.False(trigger.Claim(new Lsn(2099), s_none, s_start));
        Assert.True(trigger.Claim(new Lsn(2100), s_none, s_start));
    }

    /// <summary>
    /// Few inputs with many outputs make a long replay too; what was emitted before the last one's mark is no part of it.
    /// </summary>
    [Fact]
    public void Claim_ByOutputs_CountsThemForAShareOfTheLog()
    {
        var trigger = new CheckpointTrigger(1000);
        Assert.False(trigger.Claim(new Lsn(600), Emitted((400 * CheckpointTrigger.OutputShare) - 1), s_start));
        Assert.True(trigger.Claim(new Lsn(600), Emitted(400 * CheckpointTrigger.OutputShare), s_start));
        trigger.Published(At(700));
        Assert.False(trigger.Claim(new Lsn(800), Emitted((1300 * CheckpointTrigger.OutputShare) - 1), s_start));
        Assert.True(trigger.Claim(new Lsn(800), Emitted(1300 * CheckpointTrigger.OutputShare), s_start));
    }

    /// <summary>A checkpoint holds what is kept for a peer that is away: it must not be written again and again.</summary>
    [Fact]
    public void Claim_ByOutputsThatSpill_WaitsForAsManyMore()
    {
        var trigger = new CheckpointTrigger(1000);
        EmittedBytes kept = new(4000 * CheckpointTrigger.OutputShare, 3500);
        Assert.False(trigger.Claim(new Lsn(100), kept, s_start));
        Assert.True(trigger.Claim(new Lsn(100), kept with { Spilled = 3100 }, s_start));
    }

    /// <summary>Another replica's file is found while a tick is under way with what it read as durable before.</summary>
    [Fact]
    public void Claim_BelowTheNewestCheckpoint_WaitsForItsSizeBeyond()
    {
        var trigger = new CheckpointTrigger(1000);
        trigger.Found(At(5000), TimeSpan.Zero);
        Assert.False(trigger.Claim(new Lsn(4000), s_none, s_start));
        Assert.True(trigger.Claim(new Lsn(6000), s_none, s_start));
    }

    [Fact]
    public void Claim_AfterFailures_PausesLongerEachTimeUntilOneIsPublished()
    {
        var trigger = new CheckpointTrigger(1000);
        TimeSpan now = s_start;
        foreach (int seconds in (int[])[1, 2, 4, 8, 16, 32, 60, 60])
        {
            Assert.True(trigger.Claim(new Lsn(1000), s_none, now));
            trigger.Failed("no");
            Assert.False(trigger.Claim(new Lsn(1000), s_none, now + TimeSpan.FromSeconds(seconds - 0.001)));
            now += TimeSpan.FromSeconds(seconds);
        }
        Assert.True(trigger.Claim(new Lsn(1000), s_none, now));
        trigger.Published(At(1000));
        Assert.True(trigger.Claim(new Lsn(2000), s_none, now));
        trigger.Failed("no");
        Assert.True(trigger.Claim(new Lsn(2000), s_none, now + TimeSpan.FromSeconds(1)));
        Assert.Equal(9, trigger.Status.Failures);
    }

    [Fact]
    public void Claim_NoRoomForTheMark_ComesAgainAtOnceAndIsNoFailure()
    {
        var trigger = new CheckpointTrigger(1000);
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        trigger.GiveBack();
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        Assert.Equal(0, trigger.Status.Failures);
    }

    [Fact]
    public void Request_WhileOneIsUnderWay_WantsAnotherBehindIt()
    {
        var trigger = new CheckpointTrigger(1000);
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        trigger.Request(new Lsn(1500));
        trigger.Published(At(1100));
        Assert.True(trigger.IsDue);
        Assert.True(trigger.Claim(new Lsn(1600), s_none, s_start));
        trigger.Published(At(1600));
        Assert.False(trigger.IsDue || trigger.Claim(new Lsn(1700), s_none, s_start));
    }

    [Fact]
    public void Request_AfterAFailure_DoesNotWaitForThePause()
    {
        var trigger = new CheckpointTrigger(1000);
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        trigger.Failed("no");
        trigger.Request(new Lsn(1000));
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
    }

    /// <summary>The log grows by each mark as well: one that rests would be written for ever.</summary>
    [Fact]
    public void Claim_ByTime_OnlyBehindAnInput()
    {
        Lsn lastInput = default;
        var trigger = new CheckpointTrigger(long.MaxValue, TimeSpan.FromMinutes(10), () => lastInput);
        Assert.False(trigger.Claim(new Lsn(4096), s_none, s_start));
        Assert.False(trigger.Claim(new Lsn(4096), s_none, s_start + TimeSpan.FromMinutes(9.99)));
        Assert.True(trigger.Claim(new Lsn(4096), s_none, s_start + TimeSpan.FromMinutes(10)));
        trigger.Published(At(4000));
        lastInput = new Lsn(3990);
        Assert.False(trigger.Claim(new Lsn(12288), s_none, s_start + TimeSpan.FromDays(1)));
        lastInput = new Lsn(4000);
        Assert.True(trigger.Claim(new Lsn(12288), s_none, s_start + TimeSpan.FromDays(1)));
    }

    [Fact]
    public void Claim_ByTime_CountsFromTheCheckpointThatTheStartFound()
    {
        var trigger = new CheckpointTrigger(long.MaxValue, TimeSpan.FromMinutes(10), static () => new Lsn(5000));
        trigger.Found(At(4000), TimeSpan.FromMinutes(7));
        Assert.False(trigger.Claim(new Lsn(8192), s_none, s_start));
        Assert.False(trigger.Claim(new Lsn(8192), s_none, s_start + TimeSpan.FromMinutes(2.99)));
        Assert.True(trigger.Claim(new Lsn(8192), s_none, s_start + TimeSpan.FromMinutes(3)));
    }

    /// <summary>A checkpoint from the future was made before the clock was set back: it does not stop those that follow.</summary>
    [Fact]
    public void Claim_CheckpointFromTheFuture_CountsAsTakenNow()
    {
        var trigger = new CheckpointTrigger(1000, TimeSpan.FromMinutes(10), static () => new Lsn(450));
        trigger.Found(At(400), TimeSpan.FromDays(-365));
        Assert.False(trigger.Claim(new Lsn(500), s_none, s_start));
        Assert.True(trigger.Claim(new Lsn(500), s_none, s_start + TimeSpan.FromMinutes(10)));
    }

    [Fact]
    public void SessionEnded_OneUnderWay_IsAFailureWithoutAPause()
    {
        var trigger = new CheckpointTrigger(1000);
        trigger.SessionEnded();
        Assert.Equal(0, trigger.Status.Failures);
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
        trigger.SessionEnded();
        Assert.Equal(1, trigger.Status.Failures);
        Assert.True(trigger.Claim(new Lsn(1000), s_none, s_start));
    }

    private static EmittedBytes Emitted(long bytes) => new(bytes, 0);

    private static CheckpointFileName At(ulong lsn) => new(new Lsn(lsn), new Epoch(1), "r0");
}
