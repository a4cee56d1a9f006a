using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A log that stands still is digested where it ends, so that short ones are compared like long ones (log-format L5.7).</summary>
public sealed class QuietDigestTests
{
    private const ulong Last = 40;
    private static readonly LogOptions s_options = new() { SegmentBytes = 1 << 20, PageBytes = 8192 };

    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly SimulatedRandom _random = new(4);

    [Fact]
    public void Log_StoodStillForASecond_IsDigestedOnceOnAPageOfItsOwn()
    {
        Node node = Rested();
        (Lsn at, DigestRecord? digest) = Assert.Single(node.Records(), static record => record.Digest is not null);
        Assert.Equal((at, at.Value % 4096), (digest!.Position, (ulong)PageHeader.Bytes));
        Assert.Equal([(OutboxBench.Peer, Last), (new InstanceId("self"), Last)],
            digest.Entries.Select(static entry => (entry.Destination, entry.Count)));
        Assert.Equal(1, node.Parts.Execution.Digests.Compared);
    }

    [Fact]
    public void Log_ThatGoesOn_IsNotDigestedBeforeASecondHasPassed()
    {
        Node node = Busy(out CountingApp app);
        Rest(node, app, TimeSpan.FromMilliseconds(900));
        Assert.DoesNotContain(node.Records(), static record => record.Digest is not null);
    }

    /// <summary>The app's own calls to itself are as before: only what it sent to a peer that is not there differs.</summary>
    [Fact]
    public void Start_ReplayThatMakesOtherCallsToAPeer_DivergesBeforeAnythingOpens()
    {
        Rested().Kill();
        var again = new Node(_disk, _time, s_options);
        var diverged = Assert.Throws<DivergenceException>(
            () => AwaitQuiet(again, new CountingApp(again, _random, Last) { WrongFrom = Last / 2 }));
        Assert.StartsWith("the app is not deterministic, or its code was changed: replay differs at log position", diverged.Message);
        Assert.False(again.Parts.IsPrimary);
    }

    [Fact]
    public void Start_ReplayThatIsTheSame_AgreesAndDigestsNothingAgain()
    {
        Rested().Kill();
        var again = new Node(_disk, _time, s_options);
        var app = new CountingApp(again, _random, Last);
        AwaitQuiet(again, app);
        Rest(again, app, TimeSpan.FromSeconds(3));
        Assert.Equal(1, again.Parts.Execution.Digests.Compared);
        Assert.Single(again.Records(), static record => record.Digest is not null);
    }

    [Fact]
    public void Secondary_ThatMakesOtherCalls_DivergesAtTheQuietDigest()
    {
        Rested();
        var other = new Node(_disk, _time, s_options, "r1");
        var app = new CountingApp(other, _random, Last) { WrongFrom = Last / 2 };
        Assert.Throws<DivergenceException>(() =>
        {
            for (int step = 0; step < 2000; step++) Step(other, app);
        });
    }

    [Fact]
    public void Start_ThatAnswersACallerOtherwise_Diverges()
    {
        Rested(answer: 2).Kill();
        var again = new Node(_disk, _time, s_options);
        var diverged = Assert.Throws<DivergenceException>(() => AwaitQuiet(again, new CountingApp(again, _random, Last) { Answer = 3 }));
        Assert.Contains("the log says 1 answers to callers outside with hash", diverged.Message);
        Assert.Contains("the app gave 1 with", diverged.Message);
    }

    [Fact]
    public void Start_ThatAnswersACallerAlike_Agrees()
    {
        Rested(answer: 2).Kill();
        var again = new Node(_disk, _time, s_options);
        AwaitQuiet(again, new CountingApp(again, _random, Last) { Answer = 2 });
        Assert.Equal(1, again.Parts.Execution.Digests.Compared);
    }

    /// <summary>
    /// Another build was accepted, and answers otherwise than the digest of the one before it says. It needs no word for that any more once
    /// it has executed an epoch.
    /// </summary>
    [Fact]
    public void Start_OfAnAcceptedBuildThatAnswersOtherwise_GoesOnNowAndLater()
    {
        Rested(answer: 2, new SpokenBuild(1)).Kill();
        var next = new SpokenBuild((UInt128)0xABCDEF12 << 96, Two: 'b');
        foreach (string? accepted in new[] { "abcdef12", null })
        {
            var again = new Node(_disk, _time, s_options, acceptBuild: accepted);
            var app = new CountingApp(again, _random, Last, next) { Answer = 3 };
            AwaitQuiet(again, app);
            Rest(again, app, TimeSpan.FromSeconds(3));
            Assert.Equal(0, again.Parts.Execution.Digests.Compared);
            again.Kill();
        }
    }

    /// <summary>It executes alike what is recorded, as far as its methods tell, so nobody had to accept it.</summary>
    [Fact]
    public void Start_OfAnotherBuildThatIsAlikeAndAnswersOtherwise_Diverges()
    {
        Rested(answer: 2, new SpokenBuild(1)).Kill();
        var again = new Node(_disk, _time, s_options);
        Assert.Throws<DivergenceException>(
            () => AwaitQuiet(again, new CountingApp(again, _random, Last, new SpokenBuild(2)) { Answer = 3 }));
    }

    private Node Rested(byte? answer = null, SpokenBuild? build = null)
    {
        Node node = Busy(out CountingApp app, answer, build);
        Rest(node, app, TimeSpan.FromSeconds(3));
        return node;
    }

    private Node Busy(out CountingApp app, byte? answer = null, SpokenBuild? build = null)
    {
        var node = new Node(_disk, _time, s_options);
        app = new CountingApp(node, _random, Last, build) { Answer = answer };
        AwaitQuiet(node, app);
        return node;
    }

    private static void AwaitQuiet(Node node, CountingApp app)
    {
        for (int step = 0; app.Executed < Last || !app.IsQuiet; step++)
        {
            Assert.True(step < 100_000, "it comes to rest");
            Step(node, app);
        }
    }

    private void Rest(Node node, CountingApp app, TimeSpan span)
    {
        for (TimeSpan end = _time.Elapsed + span; _time.Elapsed < end;)
        {
            Tick(node);
            for (int step = 0; step < 20; step++) Step(node, app);
        }
    }

    private void Tick(Node node)
    {
        _time.Advance(TimeSpan.FromMilliseconds(100));
        node.Parts.Tick(isQuiet: true);
        node.Commit();
    }

    private static void Step(Node node, CountingApp app)
    {
        app.Step();
        if (node.Parts.HasLog) node.Commit();
    }
}
