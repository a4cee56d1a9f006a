using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// What a replay has made again is believed when its receivers have said what they have, or were silent for long: before that no checkpoint
/// is taken, no digest is logged, and nothing is removed.
/// </summary>
public sealed class UnheardReceiversTests
{
    private const uint Seed = 9;
    private const ulong Calls = 40;
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };
    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();
    private readonly SimulatedRandom _random = new(4);

    /// <summary>A process that has called a peer is killed; the next one executes all again.</summary>
    private (Node Node, CountingApp App) Restarted()
    {
        var node = new Node(_disk, _time, s_options);
        Rest(node, new CountingApp(node, _random, Calls));
        Hello(node);
        node.Commit();
        node.Kill();
        var again = new Node(_disk, _time, s_options);
        var app = new CountingApp(again, _random, Calls);
        Rest(again, app);
        return (again, app);
    }

    /// <summary>The peer's hello, which has nothing yet; its record is logged.</summary>
    private static void Hello(Node node)
    {
        PeerLink link = node.Parts.Links.New(null, new LinkTransport(Seed, "peer"))!;
        var hello = new Hello(1, 1, Guid.Parse("99999999-8888-7777-6666-555555555555"), OutboxBench.Peer, "r0", new Epoch(1), 1, "self",
            Guid.Empty, default, 0, 0, 0, default, 0, 1 << 20);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        link.TryTake(out _);
    }

    private static void Rest(Node node, CountingApp app) => Execute(node, app, Calls, () => app.IsQuiet);

    private static void Execute(Node node, CountingApp app, ulong calls, Func<bool>? until = null)
    {
        for (int step = 0; app.Executed < calls || until?.Invoke() == false; step++)
        {
            Assert.True(step < 100_000, "it gets on");
            app.Step();
            node.Commit();
        }
    }

    private void Pass(Node node, CountingApp app, TimeSpan span)
    {
        for (TimeSpan end = _time.Elapsed + span; _time.Elapsed < end; _time.Advance(TimeSpan.FromMilliseconds(100)))
        {
            node.Parts.Tick(isQuiet: true);
            for (int step = 0; step < 20; step++)
            {
                app.Step();
                node.Commit();
            }
        }
    }

    private static int DigestsOf(Node node) => node.Records().Count(static record => record.Digest is not null);

    /// <summary>The app asks for a checkpoint, and time passes; says whether there is one then.</summary>
    private bool Checkpoints(Node node, CountingApp app)
    {
        app.Ask();
        for (int step = 0; step < 200; step++)
        {
            app.Step();
            node.Commit();
            node.Parts.Tick(isQuiet: true);
            node.Parts.Checkpoints.Step();
        }
        Rest(node, app);
        return node.Lines.Exists(static line => line.StartsWith("checkpoint ckpt", StringComparison.Ordinal));
    }

    [Fact]
    public void Checkpoint_ReceiverHasNotSaidWhatItHas_IsTakenBehindItsHello()
    {
        (Node node, CountingApp app) = Restarted();
        Assert.False(Checkpoints(node, app));
        Assert.False(node.Parts.Checkpoints.AreAllowed);
        Hello(node);
        Assert.True(node.Parts.Checkpoints.AreAllowed);
        Assert.True(Checkpoints(node, app));
    }

    [Fact]
    public void Checkpoint_ReceiverStaysAway_IsTakenAfterAWhile()
    {
        (Node node, CountingApp app) = Restarted();
        _time.Advance(UnheardReceivers.Patience - TimeSpan.FromSeconds(1));
        Assert.False(Checkpoints(node, app));
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.True(Checkpoints(node, app));
    }

    /// <summary>
    /// Another build would leave digests of its other calls, and the right one would be held against them for ever after.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Digest_ReceiverHasNotSaidWhatItHas_IsNotLogged(bool isHeard)
    {
        const ulong many = 1000; // most of them on a page of their own
        var node = new Node(_disk, _time, s_options);
        Execute(node, new CountingApp(node, _random, many), Calls);
        Hello(node);
        node.Commit();
        node.Kill();
        var again = new Node(_disk, _time, s_options);
        var app = new CountingApp(again, _random, many);
        Execute(again, app, 2 * Calls);
        if (isHeard) Hello(again);
        Execute(again, app, many, () => app.IsQuiet);
        Assert.InRange(again.Parts.Log.Durable.Value, 5UL << 18, ulong.MaxValue);
        Assert.Equal(isHeard, DigestsOf(again) > 0);
    }

    [Fact]
    public void QuietDigest_ReceiverHasNotSaidWhatItHas_IsLoggedBehindItsHello()
    {
        (Node node, CountingApp app) = Restarted();
        Pass(node, app, TimeSpan.FromSeconds(3));
        Assert.Equal(0, DigestsOf(node));
        Hello(node);
        Pass(node, app, TimeSpan.FromSeconds(3));
        Assert.Equal(1, DigestsOf(node));
    }

    /// <summary>Nobody was called, or nobody has ever answered: there is nobody to hear.</summary>
    [Fact]
    public void Checkpoint_OfAFirstStart_WaitsForNobody()
    {
        var node = new Node(_disk, _time, s_options);
        var app = new CountingApp(node, _random, Calls);
        Rest(node, app);
        Assert.True(Checkpoints(node, app));
    }

    [Fact]
    public void IsAwaited_UntilAllAreHeardOrPatienceEnds_Holds()
    {
        InstanceId one = new("one"), two = new("two");
        var unheard = new UnheardReceivers(_time);
        unheard.Heard(one); // by a hello that is too early to count
        _time.Advance(TimeSpan.FromDays(1));
        Assert.True(unheard.AreAwaited);
        unheard.Begin([one, two]);
        unheard.Heard(two);
        _time.Advance(UnheardReceivers.Patience - TimeSpan.FromTicks(1));
        Assert.True(unheard.AreAwaited);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(unheard.AreAwaited);
        unheard.Begin([one]);
        Assert.True(unheard.AreAwaited);
        unheard.Heard(one);
        Assert.False(unheard.AreAwaited);
    }
}
