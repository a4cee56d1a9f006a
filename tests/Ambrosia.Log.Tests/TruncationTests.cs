using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

/// <summary>
/// What stays under each policy, what a reader holds, and what a kill in the middle leaves. A log of 30 groups, a
/// checkpoint in every fifth.
/// </summary>
public sealed class TruncationTests : IDisposable
{
    private const string Dir = "/log";
    private static readonly DateTimeOffset start = DateTimeOffset.UnixEpoch.AddDays(1000);
    private readonly MemoryFileSystem fs = new();
    private readonly Primary primary;
    private readonly List<CheckpointHeader> taken = [];

    public TruncationTests()
    {
        primary = Primary.Start(fs, Dir, Primary.Small with { SegmentBytes = 64 << 10 });
        for (int i = 0; i < 30; i++)
        {
            LoggedRecord record = primary.Append(new byte[15_000]);
            primary.Commit();
            if (i % 5 == 4) taken.Add(Header(record.Lsn, start.AddHours(taken.Count), 7, primary.Fence.Epoch));
        }
        primary.Writer.AppendMark();
        primary.Commit();
        foreach (CheckpointHeader header in taken) Write(header);
    }

    public void Dispose() => primary.Dispose();

    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    [InlineData(6)]
    public void Run_SoManyCheckpoints_KeepsTheseAndTheLogFromTheOldest(int count)
    {
        TruncateResult result = New(RetentionPolicy.OfCheckpoints(count)).Run(start);
        AssertKept(count, result);
        Assert.Equal(taken.Count - count, result.CheckpointsRemoved);
    }

    [Fact]
    public void Run_MoreCheckpointsThanThereAre_RemovesNothing() =>
        AssertKept(6, New(RetentionPolicy.OfCheckpoints(7)).Run(start), fromStart: true);

    [Fact]
    public void Run_All_RemovesNothingAndVerifiesNothing() =>
        AssertKept(6, New(RetentionPolicy.All).Run(start.AddYears(5)), fromStart: true);

    /// <summary>Checkpoints at 0 to 5 h: what reaches back by the span stays, and never less than two.</summary>
    [Theory]
    [InlineData(5.0, 3, 4)]
    [InlineData(5.5, 3, 4)]
    [InlineData(6.0, 3, 3)]
    [InlineData(8.0, 3, 2)]
    [InlineData(5000.0, 3, 2)]
    public void Run_Span_KeepsACheckpointFromBeforeIt(double nowHours, int spanHours, int kept) =>
        AssertKept(kept, New(RetentionPolicy.OfSpan(TimeSpan.FromHours(spanHours))).Run(start.AddHours(nowHours)));

    [Fact]
    public void Run_SpanLongerThanTheHistory_RemovesNothing() =>
        AssertKept(6, New(RetentionPolicy.OfSpan(TimeSpan.FromHours(5.1))).Run(start.AddHours(5)), fromStart: true);

    [Fact]
    public void Run_SegmentHeldByAReader_StopsThereAndGoesOnceReleased()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = primary.Log.Chain.Segments[1];
        TruncateResult result;
        using (IFile reader = fs.Open(second.Path, FileUse.Read))
        {
            Assert.True(reader.TryLock(FileLockKind.Shared));
            result = truncation.Run(start);
            Assert.Equal((second, 1, second.FirstLsn), (result.Held, result.SegmentsRemoved, result.KeptFrom));
            Assert.Equal(second, primary.Log.Chain.Segments[0]);
            Assert.True(fs.Exists(second.Path));
        }
        AssertKept(2, truncation.Run(start));
        Assert.False(fs.Exists(second.Path));
    }

    /// <summary>What it reads stays while it reads; one that stands still is passed over, and finds that it was.</summary>
    [Fact]
    public void Run_SegmentReadByAFollower_StaysUntilItRestsOrReadsOn()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = primary.Log.Chain.Segments[1];
        using var reader = new LogReader(fs, Dir, primary.Identity, LogChain.Load(fs, Dir, primary.Identity), holds: true);
        var buffer = new PageBuffer();
        Assert.Equal(ReadStatus.Page, reader.Read(second.FirstLsn, ref buffer));
        Assert.Equal(second, truncation.Run(start).Held);
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        reader.LetGoIfIdle(); // it has read since
        Assert.Equal(second, truncation.Run(start).Held);
        reader.LetGoIfIdle();
        Assert.Null(truncation.Run(start).Held);
        Assert.False(fs.Exists(second.Path));
    }

    [Fact]
    public void Run_FollowerThatRestedAndReadsOn_HoldsAgainUntilItNeedNot()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = primary.Log.Chain.Segments[1];
        using var reader = new LogReader(fs, Dir, primary.Identity, LogChain.Load(fs, Dir, primary.Identity), holds: true);
        var buffer = new PageBuffer();
        reader.Read(second.FirstLsn, ref buffer);
        reader.LetGoIfIdle();
        reader.LetGoIfIdle();
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        Assert.Equal(second, truncation.Run(start).Held);
        reader.StopHolding();
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        AssertKept(2, truncation.Run(start));
    }

    /// <summary>At every removal: the next process finds a log like any other and removes the rest.</summary>
    [Fact]
    public void Run_KilledAtEveryRemoval_IsFinishedByTheNext()
    {
        int removals = 0;
        for (int nth = 1; ; nth++)
        {
            using var life = new TruncationTests();
            var crash = new CrashAt("truncate.afterUnlink", nth);
            try
            {
                life.New(RetentionPolicy.Default, crash).Run(start);
                break;
            }
            catch (CrashAt.Crashed)
            {
                removals++;
            }
            life.primary.Dispose();
            using Primary next = Primary.Start(life.fs, Dir);
            LogChain chain = LogChain.Load(life.fs, Dir, next.Identity);
            Assert.True(chain.TryFind(life.taken[4].PageLsn, out _, out _));
            new Truncation(life.fs, Dir, next.Identity, next.Log.Chain, next.Fence.Epoch, RetentionPolicy.Default, NoCrashPoints.Instance)
                .Run(start);
            life.AssertKept(2, null);
        }
        Assert.True(removals >= 5, $"{removals} removals");
    }

    [Fact]
    public void Run_SecondNewestRotsBetweenTwoRuns_IsNoticedAndAnOlderOneStays()
    {
        Truncation truncation = New(RetentionPolicy.OfCheckpoints(3));
        truncation.Run(start);
        Damage(taken[4]);
        TruncateResult result = truncation.Run(start);
        Assert.Equal([taken[4].FileName], result.Damaged);
        Assert.Equal(0, result.CheckpointsRemoved + result.SegmentsRemoved);
        Assert.Equal([taken[5].FileName, taken[4].FileName, taken[3].FileName], Checkpoints.List(fs, Dir));
    }

    /// <summary>Other replicas' checkpoints may be ahead of the primary's own app, which begins again with none of them.</summary>
    [Fact]
    public void Run_OwnAppIsBehind_OneThatItCanBeginWithStays()
    {
        Lsn reach = taken[2].Lsn + 8;
        var truncation = new Truncation(
            fs, Dir, primary.Identity, primary.Log.Chain, primary.Fence.Epoch, RetentionPolicy.Default, NoCrashPoints.Instance,
            neededFrom: () => reach);
        AssertKept(4, truncation.Run(start));
        reach = taken[^1].Lsn;
        AssertKept(2, truncation.Run(start));
    }

    [Fact]
    public void Run_OwnAppIsBehindAllCheckpoints_NothingGoes()
    {
        int segments = primary.Log.Chain.Segments.Length;
        var truncation = new Truncation(
            fs, Dir, primary.Identity, primary.Log.Chain, primary.Fence.Epoch, RetentionPolicy.Default, NoCrashPoints.Instance,
            neededFrom: () => Lsn.Zero);
        TruncateResult result = truncation.Run(start);
        Assert.Equal((0, 0, segments), (result.CheckpointsRemoved, result.SegmentsRemoved, primary.Log.Chain.Segments.Length));
    }

    [Fact]
    public void Run_CheckpointOfAnUpgradeThatNeverHappened_DoesNotCountAndGoesWithItsEpoch()
    {
        CheckpointHeader later = Header(taken[5].Lsn + 64, start, 8, primary.Fence.Epoch);
        Write(later);
        AssertKept(2, New(RetentionPolicy.Default).Run(start), later.FileName); // our own: its Upgrade record may follow
        primary.Dispose();
        using Primary next = Primary.Start(fs, Dir);
        new Truncation(fs, Dir, next.Identity, next.Log.Chain, next.Fence.Epoch, RetentionPolicy.Default, NoCrashPoints.Instance)
            .Run(start);
        AssertKept(2, null);
    }

    private Truncation New(RetentionPolicy policy, ICrashPoints? crash = null) =>
        new(fs, Dir, primary.Identity, primary.Log.Chain, primary.Fence.Epoch, policy, crash ?? NoCrashPoints.Instance);

    /// <summary>
    /// The newest so many checkpoints are there and no other; the log begins in the segment that holds the page of the oldest.
    /// </summary>
    private void AssertKept(int count, TruncateResult? result, CheckpointFileName? besides = null, bool fromStart = false)
    {
        Assert.Equal(taken.TakeLast(count).Select(static h => h.FileName).Reverse(),
            Checkpoints.List(fs, Dir).Where(name => name != besides));
        LogChain chain = LogChain.Load(fs, Dir, primary.Identity);
        Lsn page = taken[^count].PageLsn;
        Assert.True(chain.TryFind(page, out LogSegment first, out _));
        Assert.Equal(fromStart ? Lsn.Zero : first.FirstLsn, chain.Segments[0].FirstLsn);
        Assert.Equal(chain.Segments.Select(static s => s.Name.ToString()).Order(),
            fs.List(Dir).Where(static n => n.StartsWith("log.", StringComparison.Ordinal)).Order());
        if (result is null) return;
        Assert.Null(result.Held);
        Assert.Equal(chain.Segments[0].FirstLsn, result.KeptFrom);
    }

    private static CheckpointHeader Header(Lsn lsn, DateTimeOffset time, uint version, Epoch epoch) =>
        new(0, Primary.Uuid, lsn, new Lsn(lsn.Value / 4096 * 4096), epoch, version, 1,
            (time - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond, 0, "r0");

    private void Write(CheckpointHeader header)
    {
        using var writer = new CheckpointWriter(fs, Dir, primary.Identity, header, NoCrashPoints.Instance);
        writer.Write(CheckpointSection.Coordinator, [0x84]);
        writer.Write(CheckpointSection.Image, new byte[1_000]);
        writer.Finish();
        Assert.True(writer.Publish(primary.Writer.Stated));
    }

    private void Damage(CheckpointHeader header)
    {
        byte[] bytes = fs.Content($"{Dir}/{header.FileName}");
        bytes[^1] ^= 1;
        fs.SetContent($"{Dir}/{header.FileName}", bytes);
    }
}
