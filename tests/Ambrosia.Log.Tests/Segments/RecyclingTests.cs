using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Tests;

public sealed class RecyclingTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Release_OwnSegment_BecomesTheNextOneAndTakesNoZeros()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = primary.Fill(100);
        LogSegment oldest = primary.Log.Chain.Segments[0];
        Lsn first = primary.Log.Chain.Segments[1].FirstLsn;
        Assert.Equal(SegmentRelease.Recycled, primary.Writer.Release(oldest));
        Assert.False(_fs.Exists(oldest.Path));
        string spare = Assert.Single(Spares());
        // neither the old header nor its first page
        Assert.False(_fs.Content(spare).AsSpan(0, 2 * SegmentHeader.Bytes).ContainsAnyExcept((byte)0));
        long stalls = 0;
        written.AddRange(FillUntilRotated(primary, ref stalls));
        Assert.Empty(Spares());
        Assert.Equal(0, stalls);
        Assert.Equal(written.Where(r => r.Lsn >= first), LogContent.Read(_fs, Dir, first));
    }

    [Fact]
    public void Release_SegmentOfAnEarlierEpoch_IsRemovedAndNeverWritten()
    {
        using (Primary first = Primary.Start(_fs, Dir)) first.Fill(100);
        using Primary primary = Primary.Start(_fs, Dir);
        LogSegment oldest = primary.Log.Chain.Segments[0];
        Assert.Equal(SegmentRelease.Removed, primary.Writer.Release(oldest));
        Assert.False(_fs.Exists(oldest.Path));
        Assert.Empty(Spares());
    }

    [Fact]
    public void Release_SegmentThatIsRead_IsHeldUntilTheReaderLetsGo()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Fill(60);
        LogSegment oldest = primary.Log.Chain.Segments[0];
        using (IFile reader = _fs.Open(oldest.Path, FileUse.Read))
        {
            Assert.True(reader.TryLock(FileLockKind.Shared));
            Assert.Equal(SegmentRelease.Held, primary.Writer.Release(oldest));
            Assert.Equal(oldest, primary.Log.Chain.Segments[0]);
        }
        Assert.Equal(SegmentRelease.Recycled, primary.Writer.Release(oldest));
    }

    [Fact]
    public void Release_MoreThanSparesMax_TheRestIsRemoved()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { SparesMax = 2 });
        primary.Fill(200);
        var released = new List<SegmentRelease>();
        while (primary.Log.Chain.Segments.Length > 1) released.Add(primary.Writer.Release(primary.Log.Chain.Segments[0]));
        Assert.True(released.Count > 3);
        Assert.Equal(2, released.Count(static r => r == SegmentRelease.Recycled));
        Assert.Equal(2, Spares().Count);
    }

    [Fact]
    public void Release_TheOnlySegment_Throws()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        Assert.Throws<InvalidOperationException>(() => primary.Writer.Release(primary.Log.Chain.Segments[0]));
    }

    /// <summary>Behind every group of a recycled segment the log ends in zeros: a restart has nothing to report.</summary>
    [Fact]
    public void Start_OnARecycledSegmentAtEveryGroup_FindsAWholeLogInSilence()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Fill(60);
        primary.Writer.Release(primary.Log.Chain.Segments[0]);
        long stalls = 0;
        FillUntilRotated(primary, ref stalls);
        for (int i = 0; i < 24; i++)
        {
            MemoryFileSystem copy = _fs.Copy();
            copy.FreeLocks();
            using (Primary next = Primary.Start(copy, Dir, replica: "r1"))
            {
                Assert.IsType<ReadVerdict.CleanEnd>(next.Log.Tail);
                Assert.Equal(primary.Writer.Durable, next.Writer.Durable);
            }
            primary.Append(new byte[(i % 3) * 5_000 + 1]);
            if (i % 4 == 3) primary.AppendSpanning(new byte[21_000]);
            primary.Commit();
        }
    }

    /// <summary>
    /// The old primary is stopped in the middle of a commit; others take over, trim, recycle; then its writes, flushes and renames happen.
    /// </summary>
    [Fact]
    public void ZombieOfAnEarlierEpoch_ResumesItsWrites_ChangesNothingThatAnyoneReads()
    {
        Primary zombie = Primary.Start(_fs, Dir);
        zombie.Fill(60);
        zombie.Writer.Release(zombie.Log.Chain.Segments[0]);
        LogSegment releasedByZombie = zombie.Log.Chain.Segments[0];
        CommitGroup stopped = BeginWithoutRotation(zombie);
        zombie.Lock.Dispose(); // as if no lock ever excluded anybody

        Primary middle = Primary.Start(_fs, Dir, replica: "r1");
        middle.Fill(60);
        while (middle.Log.Chain.Segments[0].Header.Epoch == zombie.Fence.Epoch) middle.Writer.Release(middle.Log.Chain.Segments[0]);
        middle.Writer.Release(middle.Log.Chain.Segments[0]);
        long stalls = 0;
        FillUntilRotated(middle, ref stalls); // into a file of its own that lived before
        middle.Lock.Dispose();
        using Primary primary = Primary.Start(_fs, Dir, replica: "r0");
        Lsn first = primary.Log.Chain.Segments[0].FirstLsn;
        List<LoggedRecord> before = LogContent.Read(_fs, Dir, first);

        stopped.Write();
        stopped.Flush();
        Assert.Throws<FenceLostException>(stopped.CheckFence);
        Assert.Throws<FenceLostException>(() => zombie.Writer.Release(releasedByZombie));
        while (zombie.Writer.PrepareSpace())
        {
        }
        Assert.ThrowsAny<FenceLostException>(() => middle.Fill(60));
        Assert.Equal(before, LogContent.Read(_fs, Dir, first));
        LoggedRecord more = primary.Append([1]);
        primary.Commit();
        Assert.Equal([.. before, more], LogContent.Read(_fs, Dir, first));
    }

    [Fact]
    public void PromotionSpare_IsTakenByTheTakeOver_AndElseRemoved()
    {
        using (Primary first = Primary.Start(_fs, Dir)) first.Fill(5);
        // far more zeros than a take-over writes itself
        LogOptions wide = Primary.Small with { SegmentBytes = 1 << 20, ZeroWindowBytes = 512 << 10 };
        using PromotionSpare spare = PromotionSpare.Create(_fs, Dir, "r1", new Epoch(1), wide),
            other = PromotionSpare.Create(_fs, Dir, "r2", new Epoch(1), Primary.Small);
        while (spare.Prepare())
        {
        }
        string path = spare.Path!;
        long zeroed = _fs.WrittenTo(path);
        Assert.True(zeroed > 512 << 10);
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None));
        PrimaryLog log = TakeOver.Execute(
            new LogLocation(_fs, Dir, identity), claimed.Fence, "r1", Primary.Small, new SteppingTime(), spare: spare);
        Assert.Equal(zeroed, _fs.WrittenTo(log.Chain.Segments[^1].Path)); // zeroed already
        Assert.DoesNotContain(_fs.List(Dir), static n => n.EndsWith(".tmp", StringComparison.Ordinal));
        Assert.Null(other.TakeFor("/log/x.tmp", 0));
        log.Writer.Dispose();
    }

    /// <summary>
    /// A file whose segment ended early is as long as any other, and for the most part a hole. In its next life pages wait for zeros there.
    /// </summary>
    [Fact]
    public void Release_SegmentThatWasHardlyWritten_TakesPagesOnlyWhereItWasWritten()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { ZeroWindowBytes = 4 << 10, MessageBytesMax = 1 << 20 });
        primary.Fill(2);
        primary.AppendSpanning(new byte[230 << 10]); // does not fit behind these
        primary.Commit();
        LogSegment oldest = primary.Log.Chain.Segments[0];
        Assert.InRange(_fs.WrittenTo(oldest.Path), 1, 64 << 10);
        Assert.Equal(SegmentRelease.Recycled, primary.Writer.Release(oldest));
        for (long rotations = primary.Writer.Metrics.Rotations; primary.Writer.Metrics.Rotations < rotations + 2;)
        {
            primary.Append(new byte[9_000]);
            CommitGroup group = primary.Next()!;
            if (group.NeedsRotation) group.Rotate();
            string path = primary.Log.Chain.Segments[^1].Path;
            long before = _fs.WrittenTo(path);
            group.Write();
            Assert.Equal(before, _fs.WrittenTo(path));
            group.Flush();
            group.CheckFence();
            primary.Writer.Complete(group);
        }
        Assert.Contains(primary.Log.Chain.Segments, static segment => segment.Header.IsRecycled);
    }

    /// <summary>A record larger than a segment makes its file longer; the file's next life is of the usual length again.</summary>
    [Fact]
    public void Release_SegmentOfOneLargeRecord_HasTheUsualLengthAgain()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { MessageBytesMax = 1 << 20 });
        LoggedRecord large = primary.AppendSpanning(new byte[700_000]);
        primary.Commit();
        LogSegment holder = primary.Log.Chain.Segments[^1]; // the first one, which has its name and length, was too short
        Assert.Equal((2, large.Lsn.Value), (primary.Log.Chain.Segments.Length, holder.FirstLsn.Value + PageHeader.Bytes));
        Assert.InRange(holder.Header.FileBytes, 700_000, 800_000);
        primary.Fill(1);
        while (primary.Log.Chain.Segments[0] != holder) primary.Writer.Release(primary.Log.Chain.Segments[0]);
        Assert.Equal(SegmentRelease.Recycled, primary.Writer.Release(holder));
        Assert.All(Spares(), spare => Assert.Equal(256 << 10, _fs.Content(spare).Length));
        long stalls = 0;
        FillUntilRotated(primary, ref stalls);
        Assert.All(primary.Log.Chain.Segments, segment => Assert.Equal(segment.Header.FileBytes, _fs.Content(segment.Path).Length));
    }

    private static CommitGroup BeginWithoutRotation(Primary primary)
    {
        while (true)
        {
            primary.Append(new byte[9_000]);
            CommitGroup group = primary.Next()!;
            if (!group.NeedsRotation) return group;
            Primary.Steps(group);
            primary.Writer.Complete(group);
        }
    }

    private List<string> Spares() =>
        [.. _fs.List(Dir).Where(static n => n.StartsWith("spare.", StringComparison.Ordinal)).Select(static n => Path.Combine(Dir, n))];

    private static List<LoggedRecord> FillUntilRotated(Primary primary, ref long stalls)
    {
        var written = new List<LoggedRecord>();
        long rotations = primary.Writer.Metrics.Rotations;
        while (primary.Writer.Metrics.Rotations == rotations) written.AddRange(primary.Fill(1));
        long before = primary.Writer.Metrics.ZeroWaits;
        written.AddRange(primary.Fill(3));
        stalls += primary.Writer.Metrics.ZeroWaits - before;
        return written;
    }
}
