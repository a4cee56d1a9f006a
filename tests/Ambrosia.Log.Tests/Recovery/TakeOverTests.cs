using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

public sealed class TakeOverTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Run_OverSeveralEpochs_KeepsEveryRecordAtItsLsn()
    {
        var written = new List<LoggedRecord>();
        for (int epoch = 1; epoch <= 6; epoch++)
        {
            using Primary primary = Primary.Start(_fs, Dir, replica: $"r{epoch % 2}");
            Assert.Equal(new Epoch((ulong)epoch), primary.Writer.Epoch);
            Assert.IsType<ReadVerdict.CleanEnd>(primary.Log.Tail);
            Assert.Equal(written, LogContent.Read(_fs, Dir, out Lsn end));
            Assert.Equal((end, end, end), (primary.Writer.Durable, primary.Writer.Sealed, primary.Writer.Tail));
            for (int i = 0; i < epoch * 4; i++)
            {
                written.Add(primary.Append(new byte[700 * i]));
                if (i % 3 == 0) primary.Commit();
                if (i % 5 == 0) written.Add(primary.AppendSpanning(new byte[30_000 + i]));
            }
            primary.Commit();
            if (epoch % 2 == 0 && primary.Writer.AppendMark()) primary.Commit();
        }
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    [Fact]
    public void Run_TailBehindTheLastStatedPosition_IsLoggedAgainUnchanged()
    {
        List<LoggedRecord> written;
        byte[] before;
        using (Primary first = Primary.Start(_fs, Dir))
        {
            written = [first.Append([1])];
            first.Commit();
            written.Add(first.Append([2]));
            first.Commit();
            written.Add(first.Append([3]));
            first.Commit();
            before = _fs.Content($"{Dir}/log.1.1");
        }
        using Primary second = Primary.Start(_fs, Dir);
        Assert.Equal(before, _fs.Content($"{Dir}/log.1.1")); // nobody writes into a file of another epoch
        SegmentHeader header = second.Log.Chain.Segments[^1].Header;
        Assert.Equal(new Lsn(8_192), header.FirstLsn); // the third page stated what lies below it
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.True(second.Writer.MarkDue); // nothing on disk states the third record
    }

    [Fact]
    public void Run_Twice_SecondTakeOverSeesTheFirstOnesTail()
    {
        var written = new List<LoggedRecord>();
        using (Primary first = Primary.Start(_fs, Dir))
        {
            written.Add(first.Append([1]));
            first.Commit();
        }
        for (int i = 0; i < 5; i++) Primary.Start(_fs, Dir).Dispose(); // each dies before it writes anything
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        using Primary last = Primary.Start(_fs, Dir);
        written.Add(last.Append([2]));
        last.Commit();
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    [Theory]
    [InlineData("takeover.afterClaim")]
    [InlineData("takeover.afterTailRead")]
    [InlineData("takeover.midRelog")]
    [InlineData("takeover.afterRename")]
    [InlineData("segment.beforeCreate")]
    [InlineData("segment.afterLength")]
    [InlineData("segment.afterCreate")]
    [InlineData("segment.afterDirFsync")]
    public void Run_CrashedHalfWay_NextOneHasTheSameLog(string point)
    {
        var written = new List<LoggedRecord>();
        using (Primary first = Primary.Start(_fs, Dir))
        {
            for (int i = 0; i < 4; i++) written.Add(first.Append(new byte[12_000 + i]));
            first.Commit(); // one group of several pages, stated by nobody
        }
        Assert.Throws<CrashAt.Crashed>(() => Primary.Start(_fs, Dir, replica: "r1", crash: new CrashAt(point)));
        _fs.FreeLocks();
        using Primary third = Primary.Start(_fs, Dir, replica: "r2");
        Assert.IsType<ReadVerdict.CleanEnd>(third.Log.Tail);
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.DoesNotContain(_fs.List(Dir), n => n.EndsWith(".tmp", StringComparison.Ordinal));
        Assert.Single(_fs.List(Dir), n => n.StartsWith("primary.", StringComparison.Ordinal));
    }

    [Fact]
    public void Run_FenceLostMeanwhile_Throws()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_fs, Dir, identity, "r0", ICrashPoints.None);
        Assert.NotNull(Fence.TryClaim(_fs, Dir, identity, claimed.Epoch));
        Assert.Throws<FenceLostException>(() =>
            TakeOver.Execute(new LogLocation(_fs, Dir, identity), claimed.Fence, "r0", Primary.Small, new SteppingTime()));
    }

    [Fact]
    public void Run_LaterClaimerWasFaster_SaysThatTheFenceIsLost()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_fs, Dir, identity, "r0", ICrashPoints.None);
        TakeOverFrom(claimed.Epoch).Dispose(); // its segment is of a later epoch than ours
        Assert.Throws<FenceLostException>(() =>
            TakeOver.Execute(new LogLocation(_fs, Dir, identity), claimed.Fence, "r0", Primary.Small, new SteppingTime()));
    }

    [Theory]
    [InlineData("takeover.afterTailRead")]
    [InlineData("segment.afterLength")]
    [InlineData("segment.afterCreate")]
    [InlineData("takeover.afterRename")]
    public void Run_LaterClaimerTakesOverMeanwhile_SaysThatTheFenceIsLost(string point)
    {
        using (Primary first = Primary.Start(_fs, Dir))
        {
            first.Append([1]);
            first.Commit();
        }
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_fs, Dir, identity, "r0", ICrashPoints.None);
        Primary? later = null;
        var meanwhile = new ActAt(point, () => later = TakeOverFrom(claimed.Epoch));
        Assert.Throws<FenceLostException>(() =>
            TakeOver.Execute(
                new LogLocation(_fs, Dir, identity) { Crash = meanwhile }, claimed.Fence, "r0", Primary.Small, new SteppingTime()));
        Assert.Single(LogContent.Read(_fs, Dir));
        later!.Dispose();
    }

    /// <summary>Another replica claims the next epoch although the lock of this one is held.</summary>
    private Primary TakeOverFrom(Epoch held)
    {
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        var claimed = Assert.IsType<ClaimResult.Claimed>(
            PrimaryClaim.TryClaim(_fs, Dir, identity, "r1", ICrashPoints.None, ignoreLocksOf: held));
        PrimaryLog log = TakeOver.Execute(new LogLocation(_fs, Dir, identity), claimed.Fence, "r1", Primary.Small, new SteppingTime());
        return Primary.Of(identity, claimed, log);
    }

    private sealed class ActAt(string point, Action act) : ICrashPoints
    {
        public void Hit(string name)
        {
            if (name == point) act();
        }
    }

    [Fact]
    public void Run_FenceOlderThanTheLog_Halts()
    {
        InstanceIdentity identity;
        using (Primary first = Primary.Start(_fs, Dir)) identity = first.Identity;
        Primary.Start(_fs, Dir).Dispose();
        _fs.Rename($"{Dir}/epoch.{identity.Uuid:D}.2", $"{Dir}/epoch.{identity.Uuid:D}.0"); // a restored fence
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir));
        Assert.Contains("fence is older", damage.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Run_DamagedHeader_HaltsWithFileAndOffset()
    {
        using (Primary first = Primary.Start(_fs, Dir)) first.Append([1]);
        byte[] bytes = _fs.Content($"{Dir}/log.1.1");
        bytes[40] ^= 1;
        _fs.SetContent($"{Dir}/log.1.1", bytes);
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir));
        Assert.Equal(($"{Dir}/log.1.1", 4_092), (damage.File, damage.Offset));
    }

    [Fact]
    public void Run_CheckpointOfMoreThanTheLogHas_Halts()
    {
        using (Primary first = Primary.Start(_fs, Dir))
        {
            first.Append([1]);
            first.Commit();
            first.Append([2]);
            first.Commit();
            first.Writer.AppendMark();
            first.Commit();
            CheckpointTests.Write(_fs, Dir, first, new Lsn(4_096 + 64), new Lsn(4_096));
        }
        byte[] bytes = _fs.Content($"{Dir}/log.1.1");
        bytes.AsSpan(8_192).Clear();
        _fs.SetContent($"{Dir}/log.1.1", bytes); // the second page and the mark are gone without a trace
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir));
        Assert.Contains("ckpt.4160.1.r0", damage.Message, StringComparison.Ordinal);
        Assert.Equal(new Lsn(4_096), damage.Lsn);
    }

    [Fact]
    public void Run_LogGoneUnderACheckpoint_Halts()
    {
        using (Primary first = Primary.Start(_fs, Dir))
        {
            first.Append([1]);
            first.Commit();
            first.Writer.AppendMark();
            first.Commit();
            CheckpointTests.Write(_fs, Dir, first, new Lsn(4_096), new Lsn(4_096));
        }
        _fs.Delete($"{Dir}/log.1.1");
        Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir));
    }

    [Fact]
    public void Run_RecordOfAnUnknownKind_HaltsAsWrittenByANewerVersion()
    {
        using (Primary first = Primary.Start(_fs, Dir))
        {
            first.Append([1], (RecordKind)18);
            first.Commit();
        }
        LogDamage damage = Assert.Throws<LogDamage>(() => Primary.Start(_fs, Dir));
        Assert.Equal(new Lsn(64), damage.Lsn);
        Assert.Contains("newer version", damage.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Run_DigestEvery_IsThatOfTheFirstSegment()
    {
        Primary.Start(_fs, Dir, Primary.Small with { DigestEvery = 2 << 20 }).Dispose();
        using Primary second = Primary.Start(_fs, Dir);
        Assert.Equal(2UL << 20, second.Writer.DigestEvery);
    }

    [Fact]
    public void Time_AcrossTakeOversWithAClockThatGoesBack_NeverDecreases()
    {
        var time = new SteppingTime();
        for (int epoch = 0; epoch < 4; epoch++)
        {
            using (Primary primary = Primary.Start(_fs, Dir, time: time))
            {
                if (epoch % 2 == 0) primary.Append([1]);
                primary.Commit();
                if (primary.Writer.AppendMark()) primary.Commit();
            }
            Primary.Start(_fs, Dir, time: time).Dispose(); // leaves a segment without pages of its own
            time.Now -= TimeSpan.FromDays(1);
        }
        InstanceIdentity identity = InstanceDirectory.TryRead(_fs, Dir)!;
        using var reader = new LogReader(_fs, Dir, identity, LogChain.Load(_fs, Dir, identity));
        var buffer = new PageBuffer();
        long last = 0;
        for (Lsn at = Lsn.Zero; reader.Read(at, ref buffer) == ReadStatus.Page; at = buffer.Next)
        {
            Assert.True(buffer.TimeMicros >= last, $"time goes back at {at}");
            last = buffer.TimeMicros;
        }
    }

    [Fact]
    public void Read_ByAFollower_GoesOnAcrossATakeOver()
    {
        InstanceIdentity identity = Primary.Create(_fs, Dir);
        Primary first = Primary.Start(_fs, Dir);
        using var follower = new LogReader(_fs, Dir, identity, LogChain.Load(_fs, Dir, identity));
        List<LoggedRecord> written = [first.Append([1])];
        first.Commit();
        written.Add(first.Append([2]));
        first.Commit();
        List<LoggedRecord> read = LogContent.Read(follower, out Lsn at);
        Assert.Equal(new Lsn(4_096), follower.Stated); // the second page is there, and nothing states it
        first.Dispose();
        using Primary second = Primary.Start(_fs, Dir);
        written.Add(second.Append([3]));
        second.Commit();
        Assert.True(follower.RefreshChain());
        Assert.False(follower.RefreshChain());
        read.AddRange(LogContent.Read(follower, out at, at));
        Assert.Equal(written, read);
        Assert.Equal(at, second.Writer.Durable);
    }
}
