using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// What a replay has computed gets a name when something later has confirmed it: another build's secondary would otherwise leave its state
/// behind, and every start would begin with it.
/// </summary>
public sealed class UnconfirmedCheckpointTests
{
    private const ulong Calls = 60;
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };
    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly SimulatedRandom _random = new(11);

    [Fact]
    public void Checkpoint_OfAReplayAtTheMarkOfADeadPrimary_GetsNoName()
    {
        (Node primary, _) = MarkedForR1();
        primary.Kill();
        (Node secondary, CountingApp second) = Secondary(wrongFrom: Calls / 2);
        // Another one claims, of which nothing is read yet.
        Assert.IsType<ClaimResult.Claimed>(
            PrimaryClaim.TryClaim(_disk.ForProcess("r2"), Node.Directory, primary.Identity, "r2", ICrashPoints.None));
        Pass(primary: null, secondary, second);
        Assert.Equal(Calls, second.Executed);
        Assert.Empty(Published("r1"));
    }

    /// <summary>It waits for a primary that lives, whose digest agrees with what was replayed.</summary>
    [Fact]
    public void Checkpoint_OfAReplay_GetsItsNameWhenADigestOfALivingPrimaryAgrees()
    {
        (Node primary, CountingApp first) = MarkedForR1();
        (Node secondary, CountingApp second) = Secondary(wrongFrom: null);
        Pass(primary: null, secondary, second);
        Assert.Empty(Published("r1"));
        first.Answer = null;
        for (int round = 0; round < 40; round++, _time.Advance(TimeSpan.FromMilliseconds(100))) // the log rests: it is digested
        {
            primary.Parts.Tick(isQuiet: true);
            Work(primary, first);
        }
        Pass(primary, secondary, second);
        Assert.NotEmpty(Published("r1"));
    }

    /// <summary>A primary counts a checkpoint of another only when its own app has come there, and can be compared.</summary>
    [Fact]
    public void Checkpoint_OfASecondaryThatIsAhead_IsComparedWhenThePrimaryHasComeThere()
    {
        (Node primary, CountingApp first) = MarkedForR1(leftFor: 20);
        var none = new Lsn(ulong.MaxValue >> 2);
        var ahead = new CheckpointFileName(none, new Epoch(1), "r1");
        _disk.ForProcess("r1").Create($"{Node.Directory}/{ahead}").Dispose();
        for (int round = 0; round < 40; round++, _time.Advance(TimeSpan.FromMilliseconds(100)))
        {
            primary.Parts.Tick(isQuiet: true);
            Work(primary, first);
        }
        Assert.Contains($"{ahead}", Published("r1"));
        Assert.DoesNotContain(primary.Lines, line => line.Contains($"{ahead}", StringComparison.Ordinal));
    }

    /// <summary>A primary that has made other calls counted what was like its own: it removes them all behind what was confirmed.</summary>
    [Fact]
    public void Primary_ThatDiffers_RemovesWhatReplicasPublishedBehindTheLastConfirmedDigest()
    {
        var primary = new Node(_disk, _time, s_options);
        var app = new CountingApp(primary, _random, Calls);
        while (!app.IsQuiet || app.Executed < Calls) Work(primary, app);
        foreach (string replica in new[] { "r1", "r2" })
            _disk.ForProcess(replica).Create($"{Node.Directory}/{new CheckpointFileName(new Lsn(512), new Epoch(1), replica)}").Dispose();
        primary.Parts.Checkpoints.RemoveDoubtful();
        Assert.Empty(Published("r1"));
        Assert.Empty(Published("r2"));
    }

    /// <summary>A primary that has executed all, and whose log asks r1 for a checkpoint.</summary>
    private (Node, CountingApp) MarkedForR1(ulong leftFor = 0)
    {
        var primary = new Node(_disk, _time, s_options);
        var app = new CountingApp(primary, _random, Calls - leftFor);
        using ReplicaLock name = ReplicaLock.TryTake(_disk.ForProcess("r1"), Node.Directory, "r1")!;
        while (!app.IsQuiet || app.Executed < Calls - leftFor) Work(primary, app);
        app.Ask();
        Lsn before = primary.Parts.Log.Durable;
        for (int step = 0; primary.Parts.Log.Stated < before + 64 || primary.Parts.Log.MarkDue; step++)
        {
            Assert.True(step < 10_000, "the mark is stated as durable");
            primary.Parts.Tick(isQuiet: false);
            Work(primary, app);
            if (primary.Parts.Log.MarkDue) primary.Parts.Log.AppendMark();
            primary.Commit();
            _time.Advance(TimeSpan.FromMilliseconds(1));
        }
        return (primary, app);
    }

    private (Node, CountingApp) Secondary(ulong? wrongFrom)
    {
        var node = new Node(_disk, _time, s_options, "r1");
        return (node, new CountingApp(node, _random, Calls) { WrongFrom = wrongFrom });
    }

    private void Work(Node node, CountingApp app)
    {
        for (int step = 0; step < 20; step++)
        {
            app.Step();
            node.Commit();
            node.Parts.Checkpoints.Step();
        }
    }

    private static void Pass(Node? primary, Node secondary, CountingApp app)
    {
        for (int step = 0; step < 2000; step++)
        {
            primary?.Commit();
            secondary.Follow(2);
            app.Step();
            secondary.Parts.Checkpoints.Step();
        }
    }

    private string[] Published(string replica) =>
        [.. _disk.ForProcess("look").List(Node.Directory).Where(name => CheckpointFileName.Parse(name)?.Replica == replica)];
}
