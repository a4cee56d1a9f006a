using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Two replicas of one instance on one simulated disk: the one that follows is silent, executes the same, and goes on when it leads.
/// </summary>
public sealed class SecondaryTests
{
    private const ulong Last = 300;
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };

    [Fact]
    public void Secondary_PrimaryDiesAnywhere_GoesOnWhereItStands()
    {
        int inPlace = 0, published = 0;
        Made.Seeds(40, random =>
        {
            var disk = new SimulatedFileSystem();
            var time = new FakeTime();
            var primary = new Node(disk, time, s_options);
            var first = new CountingApp(primary, random, Last);
            while (primary.Parts.Log.Durable == Lsn.Zero || primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
            var secondary = new Node(disk, time, s_options, "r1");
            CountingApp second = new(secondary, random, Last);
            int dies = random.Next(50, 6000), checkpoints = 2;
            for (int step = 0; step < dies && first.Executed < Last; step++)
            {
                Step(primary, first, time, random);
                if (checkpoints > 0 && random.Chance(1)) { first.Ask(); checkpoints--; }
                if (random.Next(2) == 0) secondary.Follow(random.Next(1, 4));
                else second.Step();
                secondary.Parts.Checkpoints.Step();
                AssertSilent(secondary);
                if (random.Next(400) == 0) { second.Kill(); second = new CountingApp(secondary, random, Last); }
            }
            primary.Kill();
            ulong executed = second.Executed;
            secondary.BecomePrimary();
            if (executed > 0) inPlace++;
            for (int step = 0; second is not { Executed: Last, IsQuiet: true }
                || secondary.Parts.Log.Durable < secondary.Parts.Log.Tail; step++)
            {
                Assert.True(step < 200_000,
                    $"it comes to rest: {second.Executed} executed, primary {second.Session.IsPrimary}, output {second.Session.HasOutput}, durable {secondary.Parts.Log.Durable}, tail {secondary.Parts.Log.Tail}, {secondary.Parts.Execution.Progress.Processed} processed, {string.Join("; ", secondary.Lines)}");
                Assert.True(second.Executed >= executed, "nothing is executed again");
                Step(secondary, second, time, random);
            }
            published += primary.Lines.Concat(secondary.Lines)
                .Count(static line => line.StartsWith("checkpoint ckpt", StringComparison.Ordinal));
        });
        Assert.True(inPlace > 10, $"only {inPlace} take-overs by one that had executed something");
        Assert.True(published > 3, $"only {published} checkpoints");
    }

    /// <summary>
    /// A secondary is paused while the primary truncates what it stands in, and is then promoted. Its app cannot go on, and begins again at
    /// the newest checkpoint: nothing is damaged, and nothing was sent.
    /// </summary>
    [Theory]
    [InlineData(true)] // it looks at the log before it is promoted
    [InlineData(false)]
    public void Secondary_ItsPlaceIsGone_SaysSoAndBeginsAgainAtTheNewestCheckpoint(bool looksFirst)
    {
        const ulong Many = 2_000;
        LogOptions options = s_options with { SegmentBytes = 64 << 10, SparesMax = 0 };
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(11);
        var primary = new Node(disk, time, options);
        var first = new CountingApp(primary, random, Many);
        while (primary.Parts.Log.Durable == Lsn.Zero || primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        var secondary = new Node(disk, time, options, "r1");
        var second = new CountingApp(secondary, random, Many);
        while (second.Executed < 20 || !secondary.Parts.Sessions.IsCaughtUp)
        {
            if (second.Executed < 20) Step(primary, first, time, random);
            secondary.Follow(1);
            second.Step();
        }
        secondary.Parts.Execution.Delivery.ReleaseIfIdle();
        secondary.Parts.Execution.Delivery.ReleaseIfIdle();
        IFileSystem look = disk.ForProcess("look");
        for (ulong asked = 100; look.Exists($"{Node.Directory}/log.1.1") || look.Exists($"{Node.Directory}/log.2.1");)
        {
            Assert.True(first.Executed < Many, "the log is truncated");
            if (first.Executed >= asked) { first.Ask(); asked += 100; }
            Step(primary, first, time, random);
        }
        if (looksFirst)
        {
            secondary.Follow(1_000);
            Assert.False(secondary.Parts.Sessions.IsCaughtUp);
        }
        primary.Kill();
        secondary.BecomePrimary();
        Assert.False(secondary.Parts.Sessions.IsCaughtUp);
        Assert.Throws<LogTruncatedException>(() =>
        {
            for (int step = 0; step < 10_000; step++) second.Step();
        });
        second.Kill();
        second = new CountingApp(secondary, random, Many);
        for (int step = 0; second is not { Executed: Many, IsQuiet: true }; step++)
        {
            Assert.True(step < 1_000_000, $"it comes to rest: {second.Executed} executed; {string.Join("; ", secondary.Lines)}");
            Step(secondary, second, time, random);
        }
    }

    /// <summary>I10, at each of its doors.</summary>
    private static void AssertSilent(Node secondary)
    {
        Assert.False(secondary.Parts.HasLog);
        Assert.Null(secondary.Parts.Links.New(null, new LinkTransport(1, "peer")));
        Assert.Null(secondary.Parts.Links.New(OutboxBench.Peer, new LinkTransport(1, "peer")));
        Assert.Empty(secondary.Parts.Links.PeersToDial());
        Assert.Throws<InvalidOperationException>(() => secondary.Parts.Log);
        Assert.Throws<InvalidOperationException>(() => secondary.Parts.Committer);
    }

    [Fact]
    public void Append_OnASecondary_IsAFaultOfOurs()
    {
        var disk = new SimulatedFileSystem();
        var primary = new Node(disk, new FakeTime(), s_options);
        primary.Commit();
        var follower = new LogFollower(disk, Node.Directory, InstanceDirectory.TryRead(disk, Node.Directory)!);
        while (follower.Step()) { }
        var appender = new LogAppender(ReplicaLog.Of(follower), 8000, static _ => { });
        Assert.Throws<InvalidOperationException>(() => appender.TryAppend(new TrimRecord([]), out _));
    }

    /// <summary>
    /// The secondary is of another build, or errs: its checkpoint's sums hold, and the primary cannot read the coordinator's part. That is
    /// no fault of the primary's.
    /// </summary>
    [Fact]
    public void Secondary_ItsCheckpointIsMalformed_IsRemovedAndThePrimaryGoesOn()
    {
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(7);
        var primary = new Node(disk, time, s_options);
        var first = new CountingApp(primary, random, 100);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        using ReplicaLock name = ReplicaLock.TryTake(disk.ForProcess("name"), Node.Directory, "r1")!;
        var secondary = new Node(disk, time, s_options, "r1");
        var second = new CountingApp(secondary, random, 100);
        bool asked = false;
        static bool IsRemoval(string line) => line.Contains("r1 is removed: the coordinator's part", StringComparison.Ordinal);
        for (int step = 0; !primary.Lines.Any(IsRemoval); step++)
        {
            Assert.True(step < 200_000, string.Join("; ", primary.Lines));
            Step(primary, first, time, random);
            if (!asked && first.Executed >= 60) { first.Ask(); asked = true; }
            secondary.Follow(2);
            second.Step();
            secondary.Parts.Checkpoints.Step();
            MakeMalformed(disk.ForProcess("look"));
        }
        for (int step = 0; first.Executed < 100; step++)
        {
            Assert.True(step < 200_000, "the primary goes on");
            Step(primary, first, time, random);
        }
    }

    /// <summary>Writes the secondary's checkpoint again, with a coordinator's part that means nothing.</summary>
    private static void MakeMalformed(IFileSystem files)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(files, Node.Directory).Where(static name => name.Replica == "r1"))
        {
            InstanceIdentity identity = InstanceDirectory.TryRead(files, Node.Directory)!;
            string path = $"{Node.Directory}/{name}";
            CheckpointHeader header;
            using (CheckpointReader reader = CheckpointReader.Open(files, path, identity)) header = reader.Header;
            files.Delete(path);
            using var writer = new CheckpointWriter(files, Node.Directory, identity, header, ICrashPoints.None);
            writer.Write(CheckpointSection.CoordinatorPart, [0x84]);
            writer.Write(CheckpointSection.Image, new byte[10]);
            writer.Finish();
            writer.Publish(header.Lsn);
        }
    }

    /// <summary>
    /// Negative control: what the secondary's app does otherwise is found at a checkpoint's place, and the file of one
    /// that differs is not kept.
    /// </summary>
    [Fact]
    public void Secondary_ThatDoesSomethingElse_IsFoundAndItsCheckpointRemoved()
    {
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(7);
        var primary = new Node(disk, time, s_options);
        var first = new CountingApp(primary, random, 100);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        using ReplicaLock name = ReplicaLock.TryTake(disk.ForProcess("name"), Node.Directory, "r1")!;
        var secondary = new Node(disk, time, s_options, "r1");
        var second = new CountingApp(secondary, random, 100) { WrongFrom = 20 };
        bool asked = false;
        for (int step = 0; !primary.Lines.Any(static line => line.Contains("is removed: it says hash", StringComparison.Ordinal)); step++)
        {
            Assert.True(step < 200_000, "it is found");
            Step(primary, first, time, random);
            if (!asked && first.Executed >= 60) { first.Ask(); asked = true; }
            secondary.Follow(2);
            second.Step();
            secondary.Parts.Checkpoints.Step();
        }
        Assert.DoesNotContain(disk.ForProcess("look").List(Node.Directory),
            static file => file.StartsWith("ckpt.", StringComparison.Ordinal) && file.EndsWith(".r1", StringComparison.Ordinal));
    }

    /// <summary>
    /// Two replicas, of which the secondary takes the checkpoints: its state differs, and its calls do not. Before, nobody compared them,
    /// the log was truncated behind the wrong ones, and every recovery began with one of them.
    /// </summary>
    [Fact]
    public void Secondary_WhoseStateAloneDiffers_IsFoundBeforeTheLogIsTruncatedBehindIt()
    {
        var disk = new SimulatedFileSystem();
        DivergenceOfTheState(disk, seed: 7, static () => { }, out Node secondary);
        secondary.Parts.Checkpoints.RemoveDoubtful();
        string[] files = [.. disk.ForProcess("look").List(Node.Directory)];
        string[] makers = [.. files.Select(CheckpointFileName.Parse).OfType<CheckpointFileName>().Select(static file => file.Replica)];
        Assert.DoesNotContain("r1", makers);
        Assert.Contains("r0", makers);
        Assert.Contains(files, static file => file.StartsWith("log.1.", StringComparison.Ordinal)); // nothing was truncated
    }

    /// <summary>
    /// The secondary takes one checkpoint of the state that differs, and has only the primary to be held against: the next one is the
    /// primary's, and there it is found. Another that runs and executes nothing changes nothing of that.
    /// </summary>
    [Theory]
    [InlineData(7, false)]
    [InlineData(10, false)]
    [InlineData(11, true)]
    public void Secondary_WhoseStateAloneDiffers_IsFoundAfterTwoCheckpoints(uint seed, bool isBesideAnIdleOne)
    {
        var disk = new SimulatedFileSystem();
        ReplicaLock? idle = null;
        var marks = new HashSet<string>(StringComparer.Ordinal);
        IFileSystem look = disk.ForProcess("look");
        DivergenceOfTheState(disk, seed, () =>
        {
            if (isBesideAnIdleOne) idle ??= ReplicaLock.TryTake(disk.ForProcess("idle"), Node.Directory, "r2");
            marks.UnionWith(look.List(Node.Directory).Where(static file => CheckpointFileName.Parse(file) is not null));
        }, out Node secondary);
        idle?.Dispose();
        ulong differs = secondary.Parts.Checkpoints.StateDiverged!.Value.From.Value;
        string[] behind = [.. marks.Where(file => CheckpointFileName.Parse(file)!.Lsn.Value > differs).Order(StringComparer.Ordinal)];
        Assert.True(behind.Length <= 2, string.Join(", ", behind));
    }

    /// <summary>The log holds the hash of the primary's state, so that its file is not needed.</summary>
    [Fact]
    public void Secondary_WhoseStateAloneDiffersAndThePrimarysFileIsGone_IsFoundByTheLog()
    {
        var disk = new SimulatedFileSystem();
        IFileSystem other = disk.ForProcess("other");
        DivergenceException found = DivergenceOfTheState(disk, seed: 10, () =>
        {
            foreach (string file in other.List(Node.Directory))
                if (CheckpointFileName.Parse(file) is { Replica: "r0" }) other.Delete($"{Node.Directory}/{file}");
        }, out _);
        Assert.Contains("the log's record of the primary's state", found.Message, StringComparison.Ordinal);
    }

    /// <summary>Runs a primary, and a secondary whose state alone differs from its 20th call on, until that is found.</summary>
    /// <param name="meanwhile">It happens behind each step of the primary.</param>
    private static DivergenceException DivergenceOfTheState(SimulatedFileSystem disk, uint seed, Action meanwhile, out Node secondary)
    {
        var time = new FakeTime();
        var random = new SimulatedRandom(seed);
        var primary = new Node(disk, time, s_options, checkpointEvery: 4096);
        var first = new CountingApp(primary, random, 3000);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        using ReplicaLock name = ReplicaLock.TryTake(disk.ForProcess("name"), Node.Directory, "r1")!;
        secondary = new Node(disk, time, s_options, "r1");
        var second = new CountingApp(secondary, random, 3000) { WrongStateFrom = 20 };
        for (int step = 0; step < 400_000; step++)
        {
            Step(primary, first, time, random);
            meanwhile();
            secondary.Follow(2);
            second.Step();
            secondary.Parts.Checkpoints.Step();
            try
            {
                secondary.Parts.Checkpoints.CompareStates();
            }
            catch (DivergenceException found)
            {
                return found;
            }
        }
        throw new TimeoutException("the other state was not found");
    }

    /// <summary>A secondary whose state is the primary's says so, and the log is truncated behind what both have had.</summary>
    [Fact]
    public void Secondary_WhoseStateIsTheSame_LetsTheLogBeTruncated()
    {
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(8);
        var primary = new Node(disk, time, s_options with { SegmentBytes = 64 << 10 }, checkpointEvery: 4096);
        var first = new CountingApp(primary, random, 3000);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        using ReplicaLock name = ReplicaLock.TryTake(disk.ForProcess("name"), Node.Directory, "r1")!;
        var secondary = new Node(disk, time, s_options with { SegmentBytes = 64 << 10 }, "r1");
        var second = new CountingApp(secondary, random, 3000);
        for (int step = 0; primary.Parts.Execution.Progress.Processed.Value < 400_000; step++)
        {
            Assert.True(step < 400_000, "the app gets on");
            Step(primary, first, time, random);
            secondary.Follow(2);
            second.Step();
            secondary.Parts.Checkpoints.Step();
            secondary.Parts.Checkpoints.CompareStates();
        }
        string[] files = [.. disk.ForProcess("look").List(Node.Directory)];
        Assert.True(ReplicaLock.FindAgreed(disk.ForProcess("look"), Node.Directory, ["r1"]) > Lsn.Zero);
        Assert.DoesNotContain(files, static file => file.StartsWith("log.1.", StringComparison.Ordinal));
    }

    /// <summary>
    /// Two secondaries cannot tell which of them is wrong: they say that they differ, and the primary's checkpoint ends the one.
    /// </summary>
    [Fact]
    public void Secondaries_WhoseStatesDiffer_SaySoAndTheWrongOneEnds()
    {
        var disk = new SimulatedFileSystem();
        var time = new FakeTime();
        var random = new SimulatedRandom(9);
        var primary = new Node(disk, time, s_options, checkpointEvery: 4096);
        var first = new CountingApp(primary, random, 6000);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        string[] names = ["r1", "r2"];
        ReplicaLock[] locks = [.. names.Select(name => ReplicaLock.TryTake(disk.ForProcess($"lock {name}"), Node.Directory, name)!)];
        foreach (ReplicaLock each in locks) each.PublishMove(new Lsn(1)); // both execute
        Node[] others = [.. names.Select(name => new Node(disk, time, s_options, name))];
        CountingApp[] apps = [.. others.Select(node => new CountingApp(node, random, 6000))];
        apps[0].WrongStateFrom = 20;
        var found = new Exception?[2];
        for (int step = 0; found[0] is null; step++)
        {
            Assert.True(step < 400_000, "it is found");
            Step(primary, first, time, random);
            for (int i = 0; i < others.Length; i++)
            {
                others[i].Follow(2);
                apps[i].Step();
                others[i].Parts.Checkpoints.Step();
                found[i] = Record.Exception(others[i].Parts.Checkpoints.CompareStates);
                Assert.True(i == 0 || found[i] is null, $"the right one ended: {found[i]}");
            }
        }
        Assert.IsType<DivergenceException>(found[0]);
        Assert.Contains(others.SelectMany(static node => node.Lines),
            static line => line.Contains("of another secondary differs from the state here", StringComparison.Ordinal));
        foreach (ReplicaLock each in locks) each.Dispose();
    }

    private static void Step(Node node, CountingApp app, FakeTime time, SimulatedRandom random)
    {
        switch (random.Next(12))
        {
            case 0: node.Parts.Tick(isQuiet: random.Next(2) == 0); time.Advance(TimeSpan.FromMilliseconds(random.Next(120)));
                node.Parts.CheckFence(); break;
            case 1: node.Parts.Checkpoints.Step(); node.Parts.Log.PrepareSpace(); break;
            case 2 or 3: node.Parts.Committer.Step(); break;
            default: app.Step(); break;
        }
    }
}
