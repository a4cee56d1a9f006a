using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Outboxes of many that get something at once: each is told, and not more often than it must be.</summary>
public sealed class OutputRoundTests
{
    private readonly List<Outbox> _told = [];
    private readonly OutputNotifier _round;
    private Action<Outbox> _whileTelling = static _ => { };

    public OutputRoundTests() => _round = new OutputNotifier(outbox =>
    {
        _told.Add(outbox);
        _whileTelling(outbox);
    });

    [Fact]
    public void Add_BeforeItWasTold_TellsOnce()
    {
        Outbox[] outboxes = [OutboxSet.Empty(), OutboxSet.Empty()];

        _round.Add([.. outboxes]);
        _round.Add([outboxes[1]]);

        Assert.True(_round.HasAny);
        Assert.True(_round.TellAll());
        Assert.Equal(outboxes, _told);
        Assert.False(_round.HasAny);
        Assert.False(_round.TellAll());
    }

    /// <summary>Its turn has come: what is appended from here on may be missed by the send, so it is told of again.</summary>
    [Fact]
    public void Add_WhileItsTurnIs_TellsAgain()
    {
        Outbox outbox = OutboxSet.Empty();
        _whileTelling = of => { if (_told.Count == 1) _round.Add([of]); };

        _round.Add([outbox]);
        Assert.True(_round.TellAll());

        Assert.True(_round.TellAll());
        Assert.Equal([outbox, outbox], _told);
    }

    /// <summary>Its turn is still to come: that will do.</summary>
    [Fact]
    public void Add_WhileOthersHaveTheirTurn_TellsOnce()
    {
        Outbox[] outboxes = [OutboxSet.Empty(), OutboxSet.Empty()];
        _whileTelling = of => { if (of == outboxes[0]) _round.Add([outboxes[1]]); };

        _round.Add([.. outboxes]);
        Assert.True(_round.TellAll());

        Assert.Equal(outboxes, _told);
        Assert.False(_round.HasAny);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(OutputNotifier.OutboxesMin - 1)]
    [InlineData(OutputNotifier.OutboxesMin + 4)]
    public void AppSpeaksToSome_EachIsCalled(int destinations)
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        var app = new CountingApp(node, new SimulatedRandom(3), last: 1);
        while (!app.IsQuiet)
        {
            app.Step();
            node.Commit();
        }
        InstanceId[] others = [.. Enumerable.Range(0, destinations).Select(static i => new InstanceId($"other-{i:D2}"))];

        app.SpeakTo(others);

        Assert.Equal(others, node.Parts.Links.PeersToDial().Where(others.Contains).Order());
    }
}
