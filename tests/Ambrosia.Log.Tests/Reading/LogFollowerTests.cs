using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// What a follower says may be read is durable, is there, and stays what it was through take-overs and old primaries that go on writing.
/// </summary>
public sealed class LogFollowerTests
{
    private const string Dir = "/log";

    private static LogFollower NewFollower(IFileSystem fs) => new(fs, Dir, InstanceDirectory.TryRead(fs, Dir)!);

    private static void Exhaust(LogFollower follower)
    {
        while (follower.Step()) { }
    }

    [Fact]
    public void Step_NothingStatedYet_StaysBehindTheLastGroup()
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Primary.Start(fs, Dir);
        using LogFollower follower = NewFollower(fs);
        primary.Append([1]);
        primary.Commit();
        Lsn first = primary.Writer.Durable;
        Exhaust(follower);
        Assert.Equal(Lsn.Zero, follower.Stated); // durable, and nothing says so
        primary.Append([2]);
        primary.Commit();
        Exhaust(follower);
        Assert.Equal(first, follower.Stated);
        Assert.True(primary.Writer.AppendMark());
        primary.Commit();
        Exhaust(follower);
        Assert.Equal(primary.Writer.Stated, follower.Stated);
    }

    /// <summary>
    /// A follower that stood still while its own segment and the next were truncated goes along the chain; no name that it could guess is
    /// left.
    /// </summary>
    [Theory]
    [InlineData(0)]
    [InlineData(4)] // the file that it has open is another segment by then
    public void Step_OwnSegmentAndTheNextAreGone_GoesOnAtTheHead(int spares)
    {
        var fs = new MemoryFileSystem();
        using Primary primary = Primary.Start(fs, Dir, Primary.Small with { SegmentBytes = 64 << 10, SparesMax = spares });
        using LogFollower follower = NewFollower(fs);
        primary.Fill(2);
        Exhaust(follower);
        Lsn stood = follower.Stated;
        primary.Fill(60);
        while (primary.Log.Chain.Segments is [var oldest, _, _, ..])
            Assert.NotEqual(SegmentRelease.Held, primary.Writer.Release(oldest));
        Assert.DoesNotContain("log.2.1", fs.List(Dir));
        Exhaust(follower);
        Assert.True(follower.Stated > stood, $"it stands at {stood}, the log ends at {primary.Writer.Tail}");
        Assert.Equal(primary.Writer.Stated, follower.Stated);
    }

    /// <summary>
    /// Random lives of a log: groups, large records, rotations, take-overs with an old primary still writing. Counts how often a reader
    /// that believed every valid page would have been wrong.
    /// </summary>
    [Fact]
    public void Step_RandomLives_NeverBeyondDurableAndNeverAnotherHistory()
    {
        int wouldHaveBeenWrong = 0;
        int seeds = Math.Max(30, TestScale.Rounds(1000));
        for (ulong seed = 1; seed <= (ulong)seeds; seed++)
        {
            try
            {
                wouldHaveBeenWrong += Live(new SimulatedRandom(seed));
            }
            catch (Exception e) when (e is not OutOfMemoryException)
            {
                throw new Xunit.Sdk.XunitException($"seed {seed}: {e}");
            }
        }
        Assert.True(wouldHaveBeenWrong > seeds / 10, $"only {wouldHaveBeenWrong} times in {seeds} lives: the rule is hardly tested");
    }

    private static int Live(SimulatedRandom random)
    {
        int wrong = 0;
        var fs = new MemoryFileSystem();
        var primary = Primary.Start(fs, Dir);
        var follower = NewFollower(fs);
        var executed = new List<LoggedRecord>();
        Lsn read = Lsn.Zero;
        for (int step = 0; step < 120; step++)
        {
            switch (random.Next(12))
            {
                case < 5: Append(primary, random); break;
                case < 8: primary.Commit(); break;
                case 8 when primary.Writer.AppendMark(): primary.Commit(); break;
                case 9 when random.Chance(30): primary = Replace(fs, primary, follower, random, out bool zombieWrote);
                    wrong += zombieWrote ? 1 : 0; break;
                default:
                    for (int i = random.Next(1, 6); i > 0; i--) follower.Step();
                    Assert.True(follower.Stated <= primary.Writer.Durable,
                        $"{follower.Stated} is stated, {primary.Writer.Durable} is durable");
                    Read(fs, follower, executed, ref read);
                    break;
            }
        }
        primary.Commit();
        if (primary.Writer.AppendMark()) primary.Commit();
        Exhaust(follower);
        Read(fs, follower, executed, ref read);
        List<LoggedRecord> all = LogContent.Read(fs, Dir);
        Assert.Equal(all, executed);
        follower.Dispose();
        primary.Dispose();
        return wrong;
    }

    private static void Append(Primary primary, SimulatedRandom random)
    {
        byte[] body = new byte[random.Next(1, 6_000)];
        random.NextBytes(body);
        if (primary.Writer.Tail - primary.Writer.Durable > 30_000) primary.Commit();
        if (random.Chance(10))
        {
            primary.Commit();
            primary.AppendSpanning(body = new byte[random.Next(17_000, 60_000)]);
            primary.Commit();
        }
        else primary.Append(body);
    }

    /// <summary>Another process takes over; the old one, which knows nothing of it, tries to go on.</summary>
    private static Primary Replace(MemoryFileSystem fs, Primary old, LogFollower follower, SimulatedRandom random, out bool zombieWrote)
    {
        Append(old, random);
        old.Lock.Dispose();
        InstanceIdentity identity = old.Identity;
        string replica = $"r{random.Next(2, 9)}";
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(fs, Dir, identity, replica, ICrashPoints.None));
        bool useFollower = random.Next(2) == 0;
        PrimaryLog log = TakeOver.Execute(
            new LogLocation(fs, Dir, identity), claimed.Fence, replica, Primary.Small, new SteppingTime(),
            useFollower ? new LogFollower(fs, Dir, identity) : null);
        old.Append([7]);
        zombieWrote = Assert.Throws<FenceLostException>(() => old.Commit()) is not null;
        for (int i = random.Next(4); i > 0; i--) follower.Step();
        old.Writer.Dispose();
        return Primary.Of(identity, claimed, log);
    }

    /// <summary>Executes what is stated, page by page, as a replica does.</summary>
    private static void Read(MemoryFileSystem fs, LogFollower follower, List<LoggedRecord> into, ref Lsn read)
    {
        using var reader = new LogReader(fs, Dir, InstanceDirectory.TryRead(fs, Dir)!, follower.Chain);
        var buffer = new PageBuffer(4_096);
        var spanning = new List<byte>();
        Lsn spanningLsn = default;
        reader.Expect(follower.Stated);
        for (; read < follower.Stated; read = buffer.Next)
        {
            Assert.Equal(ReadStatus.Page, reader.Read(read, ref buffer));
            if (buffer.Flags is not (PageFlags.BeginsSpanning or PageFlags.ContinuesSpanning))
            {
                LogContent.Split(buffer.Records, buffer.RecordsLsn, into);
                continue;
            }
            if (buffer.Flags == PageFlags.BeginsSpanning) spanningLsn = buffer.RecordsLsn;
            spanning.AddRange(buffer.Records);
            if (buffer.Remaining > 0) continue;
            LogContent.Split([.. spanning], spanningLsn, into);
            spanning.Clear();
        }
        Assert.Empty(spanning); // what is stated never ends inside a record
    }

    /// <summary>A take-over from where a follower stood makes the same segment as one that reads everything.</summary>
    [Fact]
    public void TakeOver_FromWhereTheFollowerStood_MakesTheSameSegment()
    {
        for (ulong seed = 1; seed <= 30; seed++)
        {
            byte[] followed = TakeOverOf(seed, follows: true), whole = TakeOverOf(seed, follows: false);
            Assert.Equal(whole, followed);
        }
    }

    /// <summary>
    /// The re-logged tail is older than the segment that it stands in, and a primary may die before it adds anything to it.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void TakeOver_OfATailLoggedAgainThatNothingFollows_KeepsAllOfIt(bool hasFollowedFromTheBeginning)
    {
        var fs = new MemoryFileSystem();
        var time = new SteppingTime();
        var written = new List<LoggedRecord>();
        LogFollower? follower;
        Lsn durable;
        using (Primary first = Primary.Start(fs, Dir, time: time))
        {
            follower = hasFollowedFromTheBeginning ? NewFollower(fs) : null;
            for (int i = 0; i < 3; i++)
            {
                written.Add(first.Append([1]));
                first.Commit();
            }
            if (follower is not null) Exhaust(follower);
            durable = first.Writer.Durable;
        }
        time.Now += TimeSpan.FromSeconds(1);
        Primary.Start(fs, Dir, replica: "r1", time: time).Dispose();
        Exhaust(follower ??= NewFollower(fs));
        using Primary third = TakeOverWith(fs, time, follower);
        Assert.Equal(new ReadVerdict.CleanEnd(durable, new Lsn(8_192)), third.Log.Tail);
        Assert.Equal(written, LogContent.Read(fs, Dir));
    }

    private static byte[] TakeOverOf(ulong seed, bool follows)
    {
        var random = new SimulatedRandom(seed);
        var fs = new MemoryFileSystem();
        var time = new SteppingTime();
        Primary primary = Primary.Start(fs, Dir, time: time);
        LogFollower follower = NewFollower(fs);
        for (int i = random.Next(1, 12); i > 0; i--)
        {
            time.Now += TimeSpan.FromMilliseconds(random.Next(3));
            if (random.Next(4) == 0)
            {
                primary.Dispose();
                primary = Primary.Start(fs, Dir, time: time);
            }
            else
            {
                Append(primary, random);
                primary.Commit();
            }
            if (random.Next(2) == 0) Exhaust(follower);
        }
        primary.Dispose();
        PrimaryLog log = TakeOverWith(fs, time, follows ? follower : null).Log;
        byte[] content = fs.Content(log.Chain.Segments[^1].Path);
        log.Writer.Dispose();
        return content;
    }

    private static Primary TakeOverWith(MemoryFileSystem fs, TimeProvider time, LogFollower? follower)
    {
        InstanceIdentity identity = InstanceDirectory.TryRead(fs, Dir)!;
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(fs, Dir, identity, "r2", ICrashPoints.None));
        PrimaryLog log = TakeOver.Execute(new LogLocation(fs, Dir, identity), claimed.Fence, "r2", Primary.Small, time, follower);
        return Primary.Of(identity, claimed, log);
    }
}
