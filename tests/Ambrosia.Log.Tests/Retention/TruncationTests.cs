using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Retention;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// What stays under each policy, what a reader holds, and what a kill in the middle leaves. A log of 30 groups, a
/// checkpoint in every fifth.
/// </summary>
public sealed class TruncationTests : IDisposable
{
    private const string Dir = "/log";
    private static readonly DateTimeOffset s_start = DateTimeOffset.UnixEpoch.AddDays(1000);
    private readonly MemoryFileSystem _fs = new();
    private readonly Primary _primary;
    private readonly List<CheckpointHeader> _taken = [];
    private readonly ICrashPoints _crash;

    public TruncationTests() : this(ICrashPoints.None) { }

    private TruncationTests(ICrashPoints crash)
    {
        _crash = crash;
        _primary = Primary.Start(_fs, Dir, Primary.Small with { SegmentBytes = 64 << 10, SparesMax = 0 }, crash: crash);
        _primary.Begin(7);
        _primary.Commit();
        for (int i = 0; i < 30; i++)
        {
            LoggedRecord record = _primary.Append(new byte[15_000]);
            _primary.Commit();
            if (i % 5 == 4) _taken.Add(Header(record.Lsn, s_start.AddHours(_taken.Count), 7, _primary.Fence.Epoch));
        }
        _primary.Writer.AppendMark();
        _primary.Commit();
        foreach (CheckpointHeader header in _taken) Write(header);
    }

    public void Dispose() => _primary.Dispose();

    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    [InlineData(6)]
    public void Run_SoManyCheckpoints_KeepsTheseAndTheLogFromTheOldest(int count)
    {
        TruncateResult result = New(RetentionPolicy.OfCheckpoints(count)).Truncate(s_start);
        AssertKept(count, result);
        Assert.Equal(_taken.Count - count, result.CheckpointsRemoved);
    }

    [Fact]
    public void Run_MoreCheckpointsThanThereAre_RemovesNothing() =>
        AssertKept(6, New(RetentionPolicy.OfCheckpoints(7)).Truncate(s_start), fromStart: true);

    /// <summary>No app begins with the newest, so that two older ones stay besides.</summary>
    [Fact]
    public void Run_NewestUnusable_DoesNotCountAndStays()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        truncation.IsUnusable = name => name == _taken[^1].FileName;
        TruncateResult result = truncation.Truncate(s_start);
        Assert.Equal(_taken.Count - 3, result.CheckpointsRemoved);
        Assert.Equal(_taken[^3..].Select(static each => each.FileName),
            CheckpointDirectory.List(_fs, Dir).Reverse());
    }

    [Fact]
    public void Run_All_RemovesNothingAndVerifiesNothing() =>
        AssertKept(6, New(RetentionPolicy.All).Truncate(s_start.AddYears(5)), fromStart: true);

    /// <summary>Of checkpoints at 0 to 5 h those stay that reach back by the span, and never less than two.</summary>
    [Theory]
    [InlineData(5.0, 3, 4)]
    [InlineData(5.5, 3, 4)]
    [InlineData(6.0, 3, 3)]
    [InlineData(8.0, 3, 2)]
    [InlineData(5000.0, 3, 2)]
    public void Run_Span_KeepsACheckpointFromBeforeIt(double nowHours, int spanHours, int kept) =>
        AssertKept(kept, New(RetentionPolicy.OfSpan(TimeSpan.FromHours(spanHours))).Truncate(s_start.AddHours(nowHours)));

    [Fact]
    public void Run_SpanLongerThanTheHistory_RemovesNothing() =>
        AssertKept(6, New(RetentionPolicy.OfSpan(TimeSpan.FromHours(5.1))).Truncate(s_start.AddHours(5)), fromStart: true);

    [Fact]
    public void Run_SegmentHeldByAReader_StopsThereAndGoesOnceReleased()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = _primary.Log.Chain.Segments[1];
        TruncateResult result;
        using (IFile reader = _fs.Open(second.Path, FileUse.Read))
        {
            Assert.True(reader.TryLock(FileLockKind.Shared));
            result = truncation.Truncate(s_start);
            Assert.Equal((second, 1, second.FirstLsn), (result.Held, result.SegmentsRemoved, result.KeptFrom));
            Assert.Equal(second, _primary.Log.Chain.Segments[0]);
            Assert.True(_fs.Exists(second.Path));
        }
        AssertKept(2, truncation.Truncate(s_start));
        Assert.False(_fs.Exists(second.Path));
    }

    /// <summary>A process that is stopped keeps its lock. Time, or the log that stays because of it, ends that.</summary>
    [Theory]
    [InlineData(61, 1L << 40, true)]
    [InlineData(59, 1L << 40, false)]
    [InlineData(0, 64 << 10, true)]
    public void Run_SegmentHeldByAStoppedReader_GoesAtTheLimit(int minutes, long bytesMax, bool goes)
    {
        var time = new FakeTime();
        var holds = new SegmentHolds(new HoldLimit(TimeSpan.FromHours(1), bytesMax), time);
        Truncation truncation = _primary.Truncation(_fs, Dir, crash: _crash, holds: holds);
        LogSegment second = _primary.Log.Chain.Segments[1];
        using var reader = new LogReader(_fs, Dir, _primary.Identity, LogChain.Load(_fs, Dir, _primary.Identity), holds: true);
        var buffer = new PageBuffer();
        Assert.Equal(ReadStatus.Page, reader.Read(second.FirstLsn, ref buffer));
        TruncateResult result = truncation.Truncate(s_start);
        if (minutes > 0)
        {
            Assert.Equal((second, time.GetUtcNow()), (result.Held, holds.Current!.Since));
            Assert.Equal(_taken[^2].PageLsn - second.FirstLsn, holds.Current.Bytes);
            time.Advance(TimeSpan.FromMinutes(minutes));
            time.ShiftWallClock(TimeSpan.FromHours(-5)); // the wall clock has no say in it
            result = truncation.Truncate(s_start);
        }
        Assert.Equal(goes, result.Held is null);
        Assert.Equal(goes, !_fs.Exists(second.Path));
        Assert.Equal(goes ? [second] : [], result.Taken.Select(static each => each.Segment));
        if (!goes) return;
        Assert.Null(holds.Current);
        AssertKept(2, result);
        ReadStatus status; // what the reader has open stays what it was; then it finds itself left behind
        while ((status = reader.Read(buffer.Next, ref buffer)) == ReadStatus.Page) Assert.True(buffer.Next <= _taken[^1].PageLsn);
        Assert.Equal(ReadStatus.Truncated, status);
    }

    /// <summary>What a reader reads stays while it reads; a reader that stands still is passed over, and finds that it was.</summary>
    [Fact]
    public void Run_SegmentReadByAFollower_StaysUntilItRestsOrReadsOn()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = _primary.Log.Chain.Segments[1];
        using var reader = new LogReader(_fs, Dir, _primary.Identity, LogChain.Load(_fs, Dir, _primary.Identity), holds: true);
        var buffer = new PageBuffer();
        Assert.Equal(ReadStatus.Page, reader.Read(second.FirstLsn, ref buffer));
        Assert.Equal(second, truncation.Truncate(s_start).Held);
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        reader.ReleaseIfIdle(); // it has read since
        Assert.Equal(second, truncation.Truncate(s_start).Held);
        reader.ReleaseIfIdle();
        Assert.Null(truncation.Truncate(s_start).Held);
        Assert.False(_fs.Exists(second.Path));
    }

    [Fact]
    public void Run_FollowerThatRestedAndReadsOn_HoldsAgainUntilItNeedNot()
    {
        Truncation truncation = New(RetentionPolicy.Default);
        LogSegment second = _primary.Log.Chain.Segments[1];
        using var reader = new LogReader(_fs, Dir, _primary.Identity, LogChain.Load(_fs, Dir, _primary.Identity), holds: true);
        var buffer = new PageBuffer();
        reader.Read(second.FirstLsn, ref buffer);
        reader.ReleaseIfIdle();
        reader.ReleaseIfIdle();
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        Assert.Equal(second, truncation.Truncate(s_start).Held);
        reader.StopHolding();
        Assert.Equal(ReadStatus.Page, reader.Read(buffer.Next, ref buffer));
        AssertKept(2, truncation.Truncate(s_start));
    }

    /// <summary>After a crash at any removal the next process finds a log like any other and removes the rest.</summary>
    [Fact]
    public void Run_KilledAtEveryRemoval_IsFinishedByTheNext()
    {
        int removals = 0;
        for (int nth = 1; ; nth++)
        {
            using var life = new TruncationTests(new CrashAt("truncate.afterUnlink", nth));
            try
            {
                life.New(RetentionPolicy.Default).Truncate(s_start);
                break;
            }
            catch (CrashAt.Crashed)
            {
                removals++;
            }
            life._primary.Dispose();
            using Primary next = Primary.Start(life._fs, Dir);
            LogChain chain = LogChain.Load(life._fs, Dir, next.Identity);
            Assert.True(chain.TryFind(life._taken[4].PageLsn, out _, out _));
            next.Truncation(life._fs, Dir).Truncate(s_start);
            life.AssertKept(2, null);
        }
        Assert.True(removals >= 5, $"{removals} removals");
    }

    [Fact]
    public void Run_SecondNewestRotsBetweenTwoRuns_IsNoticedAndAnOlderOneStays()
    {
        Truncation truncation = New(RetentionPolicy.OfCheckpoints(3));
        truncation.Truncate(s_start);
        Damage(_taken[4]);
        TruncateResult result = truncation.Truncate(s_start);
        Assert.Equal([_taken[4].FileName], result.Damaged);
        Assert.Equal(0, result.CheckpointsRemoved + result.SegmentsRemoved);
        Assert.Equal([_taken[5].FileName, _taken[4].FileName, _taken[3].FileName], CheckpointDirectory.List(_fs, Dir));
    }

    /// <summary>Other replicas' checkpoints may be ahead of the primary's own app, which begins again with none of them.</summary>
    [Fact]
    public void Run_OwnAppIsBehind_OneThatItCanBeginWithStays()
    {
        Lsn reach = _taken[2].Lsn + 8;
        Truncation truncation = _primary.Truncation(_fs, Dir, neededFrom: () => reach);
        AssertKept(4, truncation.Truncate(s_start));
        reach = _taken[^1].Lsn;
        AssertKept(2, truncation.Truncate(s_start));
    }

    [Fact]
    public void Run_OwnAppIsBehindAllCheckpoints_NothingGoes()
    {
        int segments = _primary.Log.Chain.Segments.Length;
        TruncateResult result = _primary.Truncation(_fs, Dir, neededFrom: () => Lsn.Zero).Truncate(s_start);
        Assert.Equal((0, 0, segments), (result.CheckpointsRemoved, result.SegmentsRemoved, _primary.Log.Chain.Segments.Length));
    }

    [Fact]
    public void Run_CheckpointOfAnUpgradeThatNeverHappened_DoesNotCountAndGoesWithItsEpoch()
    {
        CheckpointHeader later = Header(_taken[5].Lsn + 64, s_start, 8, _primary.Fence.Epoch);
        Write(later);
        AssertKept(2, New(RetentionPolicy.Default).Truncate(s_start), later.FileName); // our own: its Upgrade record may follow
        _primary.Dispose();
        using Primary next = Primary.Start(_fs, Dir);
        next.Truncation(_fs, Dir).Truncate(s_start);
        AssertKept(2, null);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)] // the image is another one than the record says
    public void Run_CheckpointThatAnUpgradeNames_CountsIfItsPartsAreThose(bool isThat)
    {
        CheckpointHeader later = Header(_primary.Writer.Stated, s_start.AddDays(1), 8, _primary.Fence.Epoch);
        Write(later);
        ulong part = ChannelHash.Append(0, [0x84]), image = ChannelHash.Append(0, new byte[isThat ? 1_000 : 999]);
        _primary.AppendVersion(_primary.Writer.Tail, new UpgradeRecord(7, 8, later.Lsn, later.Epoch, later.Replica, part, image, null), 8);
        _primary.Commit();
        New(RetentionPolicy.Default).Truncate(s_start);
        IEnumerable<CheckpointFileName> kept = isThat ? [later.FileName, _taken[5].FileName]
            : [later.FileName, _taken[5].FileName, _taken[4].FileName]; // it does not count, and goes with its epoch
        Assert.Equal(kept, CheckpointDirectory.List(_fs, Dir));
        _primary.Dispose();
        using Primary next = Primary.Start(_fs, Dir);
        next.Truncation(_fs, Dir).Truncate(s_start);
        Assert.Equal(isThat ? kept : kept.Skip(1), CheckpointDirectory.List(_fs, Dir));
    }

    private Truncation New(RetentionPolicy policy) => _primary.Truncation(_fs, Dir, policy, crash: _crash);

    /// <summary>
    /// The newest so many checkpoints are there and no other; the log begins in the segment that holds the page of the oldest.
    /// </summary>
    private void AssertKept(int count, TruncateResult? result, CheckpointFileName? besides = null, bool fromStart = false)
    {
        Assert.Equal(_taken.TakeLast(count).Select(static h => h.FileName).Reverse(),
            CheckpointDirectory.List(_fs, Dir).Where(name => name != besides));
        LogChain chain = LogChain.Load(_fs, Dir, _primary.Identity);
        Lsn page = _taken[^count].PageLsn;
        Assert.True(chain.TryFind(page, out LogSegment first, out _));
        Assert.Equal(fromStart ? Lsn.Zero : first.FirstLsn, chain.Segments[0].FirstLsn);
        Assert.Equal(chain.Segments.Select(static s => s.Name.ToString()).Order(),
            _fs.List(Dir).Where(static n => n.StartsWith("log.", StringComparison.Ordinal)).Order());
        if (result is null) return;
        Assert.Null(result.Held);
        Assert.Equal(chain.Segments[0].FirstLsn, result.KeptFrom);
    }

    private static CheckpointHeader Header(Lsn lsn, DateTimeOffset time, uint version, Epoch epoch) =>
        new(0, Primary.Uuid, lsn, new Lsn(lsn.Value / 4096 * 4096), epoch, version, 1,
            (time - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond, 0, "r0");

    private void Write(CheckpointHeader header)
    {
        using var writer = new CheckpointWriter(_fs, Dir, _primary.Identity, header, ICrashPoints.None);
        writer.Write(CheckpointSection.CoordinatorPart, [0x84]);
        writer.Write(CheckpointSection.Image, new byte[1_000]);
        writer.Finish();
        Assert.True(writer.Publish(_primary.Writer.Stated));
    }

    private void Damage(CheckpointHeader header)
    {
        byte[] bytes = _fs.Content($"{Dir}/{header.FileName}");
        bytes[^1] ^= 1;
        _fs.SetContent($"{Dir}/{header.FileName}", bytes);
    }
}
