using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Outboxes of many that get something at once: each is told, and not more often than it must be.</summary>
public sealed class OutputRoundTests
{
    private readonly List<Outbox> told = [];
    private readonly OutputRound round;
    private Action<Outbox> whileTelling = static _ => { };

    public OutputRoundTests() => round = new OutputRound(outbox =>
    {
        told.Add(outbox);
        whileTelling(outbox);
    });

    [Fact]
    public void Add_BeforeItWasTold_TellsOnce()
    {
        Outbox[] outboxes = [OutboxSet.Empty(), OutboxSet.Empty()];

        round.Add([.. outboxes]);
        round.Add([outboxes[1]]);

        Assert.True(round.HasAny);
        Assert.True(round.TellAll());
        Assert.Equal(outboxes, told);
        Assert.False(round.HasAny);
        Assert.False(round.TellAll());
    }

    /// <summary>Its turn has come: what is appended from here on may be missed by the send, so it is told of again.</summary>
    [Fact]
    public void Add_WhileItsTurnIs_TellsAgain()
    {
        Outbox outbox = OutboxSet.Empty();
        whileTelling = of => { if (told.Count == 1) round.Add([of]); };

        round.Add([outbox]);
        Assert.True(round.TellAll());

        Assert.True(round.TellAll());
        Assert.Equal([outbox, outbox], told);
    }

    /// <summary>Its turn is still to come: that will do.</summary>
    [Fact]
    public void Add_WhileOthersHaveTheirTurn_TellsOnce()
    {
        Outbox[] outboxes = [OutboxSet.Empty(), OutboxSet.Empty()];
        whileTelling = of => { if (of == outboxes[0]) round.Add([outboxes[1]]); };

        round.Add([.. outboxes]);
        Assert.True(round.TellAll());

        Assert.Equal(outboxes, told);
        Assert.False(round.HasAny);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(OutputRound.OutboxesMin - 1)]
    [InlineData(OutputRound.OutboxesMin + 4)]
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

        Assert.Equal(others, node.Parts.PeersToDial().Where(others.Contains).Order());
    }
}
