using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Two replicas of one instance on one simulated disk: the one that follows is silent, executes the same, and goes on when it leads.
/// </summary>
public sealed class SecondaryTests
{
    private const ulong Last = 300;
    private static readonly LogOptions options = OpenedLog.Small with { Pages = 4 };

    [Fact]
    public void Secondary_PrimaryDiesAnywhere_GoesOnWhereItStands()
    {
        int inPlace = 0, published = 0;
        Made.Seeds(40, random =>
        {
            var disk = new SimulatedFileSystem();
            var time = new FakeTime();
            var primary = new Node(disk, time, options);
            var first = new CountingApp(primary, random, Last);
            while (primary.Parts.Log.Durable == Lsn.Zero || primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
            var secondary = new Node(disk, time, options, "r1");
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
            secondary.Lead();
            if (executed > 0) inPlace++;
            for (int step = 0; second is not { Executed: Last, IsQuiet: true }
                || secondary.Parts.Log.Durable < secondary.Parts.Log.Tail; step++)
            {
                Assert.True(step < 200_000,
                    $"it comes to rest: {second.Executed} executed, primary {second.Session.IsPrimary}, output {second.Session.HasOutput}, durable {secondary.Parts.Log.Durable}, tail {secondary.Parts.Log.Tail}, {secondary.Parts.Executed} processed, {string.Join("; ", secondary.Lines)}");
                Assert.True(second.Executed >= executed, "nothing is executed again");
                Step(secondary, second, time, random);
            }
            published += primary.Lines.Concat(secondary.Lines)
                .Count(static line => line.StartsWith("checkpoint ckpt", StringComparison.Ordinal));
        });
        Assert.True(inPlace > 10, $"only {inPlace} take-overs by one that had executed something");
        Assert.True(published > 3, $"only {published} checkpoints");
    }

    /// <summary>I10, at each of its doors.</summary>
    private static void AssertSilent(Node secondary)
    {
        Assert.False(secondary.Parts.HasLog);
        Assert.Null(secondary.Parts.NewLink(null, 1, "peer"));
        Assert.Null(secondary.Parts.NewLink(OutboxBench.Peer, 1, "peer"));
        Assert.Empty(secondary.Parts.PeersToDial());
        Assert.Throws<InvalidOperationException>(() => secondary.Parts.Log);
        Assert.Throws<InvalidOperationException>(() => secondary.Parts.Committer);
    }

    [Fact]
    public void Append_OnASecondary_IsAFaultOfOurs()
    {
        var disk = new SimulatedFileSystem();
        var primary = new Node(disk, new FakeTime(), options);
        primary.Commit();
        var follower = new LogFollower(disk, Node.Directory, InstanceDirectory.TryRead(disk, Node.Directory)!);
        while (follower.Step()) { }
        var appender = new LogAppender(ReplicaLog.Of(follower), 8000);
        Assert.Throws<InvalidOperationException>(() => appender.TryAppend(RecordKind.Trim, RecordKinds.Encode(new TrimRecord([])), out _));
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
        var primary = new Node(disk, time, options);
        var first = new CountingApp(primary, random, 100);
        while (primary.Parts.Log.Stated == Lsn.Zero) Step(primary, first, time, random);
        using ReplicaLock name = ReplicaLock.TryTake(disk.ForProcess("name"), Node.Directory, "r1")!;
        var secondary = new Node(disk, time, options, "r1");
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
