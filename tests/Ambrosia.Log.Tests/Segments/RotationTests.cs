using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Log.Tests;

public sealed class RotationTests
{
    private const string Dir = "/log";
    private readonly MemoryFileSystem _fs = new();

    [Fact]
    public void Rotate_FullSegments_LogGoesOnWithTheSameEpoch()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = Fill(primary, 120);
        Assert.True(primary.Writer.Metrics.Rotations >= 3);
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.All(primary.Log.Chain.Segments, s => Assert.Equal(primary.Fence.Epoch, s.Header.Epoch));
        LogChain chain = LogChain.Load(_fs, Dir, primary.Identity);
        Assert.Equal(primary.Log.Chain.Segments.AsEnumerable(), chain.Segments.AsEnumerable());
        for (int i = 1; i < chain.Segments.Length; i++)
        {
            Assert.True(chain.TryFind(chain.Segments[i].FirstLsn + -1, out LogSegment before, out Lsn end));
            Assert.Equal(chain.Segments[i - 1], before);
            Assert.Equal(chain.Segments[i].FirstLsn, end);
        }
    }

    [Fact]
    public void Rotate_VersionsComeIntoForce_StatesThatOfItsFirstPage()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        primary.Begin(7);
        Fill(primary, 30);
        Lsn at = primary.Writer.Tail;
        primary.AppendVersion(at, new UpgradeRecord(7, 9, at, new Epoch(1), "r0", 1, 2, null), 9);
        Fill(primary, 30);

        LogChain chain = LogChain.Load(_fs, Dir, primary.Identity);
        uint[] stated = [.. chain.Segments.Select(static s => s.Header.AppVersion)];
        int upgraded = chain.Segments.IndexOf(chain.Segments.Single(s => s.FirstLsn == at)); // it begins a segment
        Assert.Equal([0, .. Enumerable.Repeat(7u, upgraded), .. Enumerable.Repeat(9u, stated.Length - upgraded - 1)], stated);
        Assert.True(upgraded > 1 && stated[^1] == 9, string.Join(' ', stated));
        Assert.Equal((0u, 7u, 7u, 9u, 9u), (chain.VersionAt(_fs, Lsn.Zero), chain.VersionAt(_fs, new Lsn(64)), chain.VersionAt(_fs, at),
            chain.VersionAt(_fs, at + 4_096), chain.VersionAt(_fs, primary.Writer.Durable)));
    }

    /// <summary>The head's own page says it, as long as no segment follows.</summary>
    [Fact]
    public void VersionAt_BehindTheFirstPageOfTheHead_IsWhatThatPageStates()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LogChain chain = LogChain.Load(_fs, Dir, primary.Identity);
        Assert.Equal(0u, chain.VersionAt(_fs, new Lsn(4_096)));
        primary.Begin(7);
        primary.Commit();
        Assert.Equal((0u, 7u), (chain.VersionAt(_fs, Lsn.Zero), chain.VersionAt(_fs, new Lsn(4_096))));
    }

    [Fact]
    public void Rotate_WithASpare_UsesIt()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        var written = new List<LoggedRecord>();
        for (int i = 0; i < 60; i++)
        {
            while (primary.Writer.PrepareSpace())
            {
            }
            written.AddRange(Fill(primary, 1));
        }
        Assert.True(primary.Writer.Metrics.Rotations >= 2);
        Assert.Equal(0, primary.Writer.Metrics.ZeroWaits);
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.True(_fs.List(Dir).Count(n => n.StartsWith("spare.", StringComparison.Ordinal)) <= 1);
    }

    [Fact]
    public void Space_IsSetAsideInSteps_AheadOfTheZeros()
    {
        LogOptions options = Primary.Small with { AllocateStepBytes = 64 << 10 };
        using Primary primary = Primary.Start(_fs, Dir, options);
        string path = primary.Log.Chain.Segments[0].Path;
        Assert.InRange(_fs.Allocated(path), 1, 96 << 10);
        Assert.InRange(options.SegmentBytes, 200 << 10, long.MaxValue);

        long before = 0;
        while (primary.Log.Chain.Segments.Length == 1)
        {
            while (primary.Writer.PrepareSpace()) Assert.True(_fs.Allocated(path) >= _fs.WrittenTo(path));
            Assert.InRange(_fs.Allocated(path), before, options.SegmentBytes);
            before = _fs.Allocated(path);
            Fill(primary, 1);
        }
        Assert.Equal(options.SegmentBytes, before);
    }

    /// <summary>
    /// Not a byte of a group is written where no zeros stand. When they have come the group is written, and nothing behind them.
    /// </summary>
    [Fact]
    public void Commit_ThatOutrunsTheZeros_WaitsAndIsCounted()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        string path = primary.Log.Chain.Segments[0].Path;
        var written = new List<LoggedRecord>();
        CommitReadiness answer;
        CommitGroup? group;
        while (true)
        {
            written.Add(primary.Append(new byte[8_000]));
            answer = primary.Writer.Begin(out group);
            if (answer != CommitReadiness.Ready) break;
            Primary.Steps(group!);
            primary.Writer.Complete(group!);
        }
        Assert.Equal(
            (CommitReadiness.AwaitingSpace, 1L, 0L), (answer, primary.Writer.Metrics.ZeroWaits, primary.Writer.Metrics.SpaceWaits));
        Assert.Equal(CommitReadiness.AwaitingSpace, primary.Writer.Begin(out _)); // it is one wait, however often it is asked for
        Assert.Equal(1, primary.Writer.Metrics.ZeroWaits);
        for (int step = 0; primary.Writer.Begin(out group) != CommitReadiness.Ready; step++)
        {
            Assert.InRange(step, 0, 100);
            primary.Writer.PrepareSpace();
        }
        long before = _fs.WrittenTo(path);
        Primary.Steps(group!);
        primary.Writer.Complete(group!);
        Assert.Equal(before, _fs.WrittenTo(path));
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    /// <summary>
    /// Through segments, marks, spanning records (one larger than a segment) and a take-over with a tail, of every window.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(4 << 10)]
    [InlineData(32 << 10)]
    public void Commit_Always_WritesIntoNoHole(int window)
    {
        LogOptions options = Primary.Small with { ZeroWindowBytes = window, SegmentBytes = 96 << 10, MessageBytesMax = 1 << 20 };
        var written = new List<LoggedRecord>();
        for (int life = 0; life < 3; life++)
        {
            using Primary primary = Primary.Start(_fs, Dir, options);
            for (int i = 0; i < 40; i++)
            {
                written.Add(i % 13 == 12 ? primary.AppendSpanning(new byte[i * 4_000]) : primary.Append(new byte[i * 300 % 12_000]));
                if (i == 39) break; // the next life finds a tail
                while (primary.Next() is { } group)
                {
                    if (group.NeedsRotation) group.Rotate();
                    string path = primary.Log.Chain.Segments[^1].Path;
                    long before = _fs.WrittenTo(path);
                    for (int page = 0; page < group.PageCount; page++) group.Write(page);
                    Assert.Equal(before, _fs.WrittenTo(path));
                    group.Flush();
                    group.CheckFence();
                    primary.Writer.Complete(group);
                }
                if (i % 5 == 0) primary.Writer.AppendMark();
            }
            written.RemoveAt(written.Count - 1); // it never left this process
        }
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    /// <summary>The first records of a segment find zeros that came with its header.</summary>
    [Fact]
    public void Commit_RightBehindATakeOver_WaitsForNobody()
    {
        for (int life = 0; life < 2; life++)
        {
            using Primary primary = Primary.Start(_fs, Dir);
            primary.Append(new byte[6_000]);
            Assert.Equal(CommitReadiness.Ready, primary.Writer.Begin(out CommitGroup? group));
            Primary.Steps(group!);
            primary.Writer.Complete(group!);
        }
    }

    [Fact]
    public void PrepareSpace_BesideACommitter_NeverZeroesAPage()
    {
        using Primary primary = Primary.Start(_fs, Dir, Primary.Small with { ZeroWindowBytes = 64 << 10, SegmentBytes = 512 << 10 });
        using var stop = new CancellationTokenSource();
        var preparing = new Thread(() =>
        {
            while (!stop.IsCancellationRequested) primary.Writer.PrepareSpace();
        });
        preparing.Start();
        List<LoggedRecord> written = Fill(primary, 400);
        stop.Cancel();
        preparing.Join();
        Assert.Equal(written, LogContent.Read(_fs, Dir));
    }

    [Theory]
    [InlineData("segment.beforeCreate")]
    [InlineData("segment.afterLength")]
    [InlineData("segment.afterCreate")]
    [InlineData("segment.afterDirFsync")]
    [InlineData("log.betweenPages")]
    [InlineData("log.afterFlush")]
    [InlineData("log.afterFenceCheck")]
    public void Crash_AtEveryStepOfACommit_LosesNothingDurable(string point)
    {
        for (int nth = 1; ; nth++)
        {
            var fs = new MemoryFileSystem();
            var crash = new CrashAt(point, nth);
            var written = new List<LoggedRecord>();
            int durable = 0;
            Primary? primary = null;
            bool isCrashed = false;
            try
            {
                primary = Primary.Start(fs, Dir, crash: crash);
                for (int i = 0; i < 20; i++)
                {
                    written.Add(primary.AppendSpanning(new byte[i * 1_700]));
                    written.Add(primary.Append([(byte)i]));
                    primary.Commit();
                    durable = written.Count;
                }
            }
            catch (CrashAt.Crashed)
            {
                isCrashed = true;
            }
            primary?.Dispose();
            fs.FreeLocks();
            using (Primary next = Primary.Start(fs, Dir))
            {
                List<LoggedRecord> read = LogContent.Read(fs, Dir);
                Assert.InRange(read.Count, durable, written.Count);
                Assert.Equal(written[..read.Count], read);
                LoggedRecord last = next.Append([99]);
                next.Commit();
                Assert.Equal(last, LogContent.Read(fs, Dir)[^1]);
            }
            if (!isCrashed)
            {
                Assert.True(nth > 1, $"{point} is reached");
                return;
            }
        }
    }

    [Fact]
    public void CheckFence_AfterAForeignClaim_IsLost()
    {
        using Primary primary = Primary.Start(_fs, Dir);
        LoggedRecord kept = primary.Append([1]);
        primary.Commit();
        Assert.NotNull(Fence.TryClaim(_fs, Dir, primary.Identity, primary.Fence.Epoch));
        primary.Append([2]);
        primary.Writer.Begin(out CommitGroup? group);
        group!.Write(0);
        group.Flush();
        FenceLostException lost = Assert.Throws<FenceLostException>(group.CheckFence);
        Assert.Contains("no longer primary", lost.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => primary.Writer.Complete(group));
        Assert.Equal(kept.Lsn + (4_096 - 64), primary.Writer.Durable);
    }

    [Fact]
    public void Rotate_ByAZombie_StaysOutsideOfTheChain()
    {
        Primary zombie = Primary.Start(_fs, Dir);
        List<LoggedRecord> written = Fill(zombie, 5);
        zombie.Lock.Dispose(); // as if no lock ever excluded anybody
        using Primary primary = Primary.Start(_fs, Dir, replica: "r1");
        Assert.ThrowsAny<FenceLostException>(() => Fill(zombie, 1));
        written.Add(primary.Append([7]));
        primary.Commit();
        Assert.Equal(written, LogContent.Read(_fs, Dir));
        Assert.Equal(CommitReadiness.Busy, zombie.Writer.Begin(out _)); // the failed group stays out: nothing is ever tried again
    }

    [Fact]
    public void Rotate_OntoASpareThatANewPrimaryRemoved_SaysThatTheFenceIsLost()
    {
        Primary zombie = Primary.Start(_fs, Dir);
        Fill(zombie, 14);
        while (zombie.Writer.PrepareSpace())
        {
        }
        Assert.Contains(_fs.List(Dir), n => n.StartsWith("spare.", StringComparison.Ordinal));
        while (true)
        {
            zombie.Append(new byte[9_000]);
            zombie.Writer.Begin(out CommitGroup? group);
            if (!group!.NeedsRotation)
            {
                Primary.Steps(group);
                zombie.Writer.Complete(group);
                continue;
            }
            zombie.Lock.Dispose();
            using Primary primary = Primary.Start(_fs, Dir, replica: "r1");
            Assert.DoesNotContain(_fs.List(Dir), n => n.StartsWith("spare.", StringComparison.Ordinal));
            Assert.Throws<FenceLostException>(group.Rotate);
            return;
        }
    }

    private static List<LoggedRecord> Fill(Primary primary, int groups)
    {
        var written = new List<LoggedRecord>();
        for (int i = 0; i < groups; i++)
        {
            byte[] body = new byte[9_000];
            Array.Fill(body, (byte)(i + 1));
            written.Add(primary.Append(body));
            written.Add(primary.Append([1, 2, 3]));
            primary.Commit();
        }
        return written;
    }
}
