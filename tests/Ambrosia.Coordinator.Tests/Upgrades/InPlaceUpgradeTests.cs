using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>An upgrade under a running primary goes from the request to its end; up to the record the app that serves goes on.</summary>
public sealed class InPlaceUpgradeTests
{
    private static readonly byte[] s_next = [.. Enumerable.Repeat((byte)7, 32)];

    private readonly FakeTime _time = new();
    private readonly SimulatedFileSystem _disk = new();
    private readonly Node _node;
    private readonly SpokenApp _app;
    private readonly FakeApps _apps = new();

    public InPlaceUpgradeTests()
    {
        _node = new Node(_disk, _time, OpenedLog.Small);
        _app = new SpokenApp(_node);
        _app.BecomePrimary();
        _node.Commit();
    }

    private InPlaceUpgrade Upgrade => _node.Parts.Upgrades.InPlace;

    [Fact]
    public void Begin_NobodyCanStartApps_IsRefused()
    {
        Assert.StartsWith("the app is started by somebody else", Upgrade.Begin(Asked()), StringComparison.Ordinal);
        Assert.Equal(InPlaceStage.None, Upgrade.Status.Stage);
    }

    [Fact]
    public void Begin_ProgramIsUnknown_StartsNothing()
    {
        Upgrade.Apps = _apps;
        _apps.Wrong = "there is no program";
        Assert.Equal("there is no program", Upgrade.Begin(Asked()));
        Assert.Empty(_apps.Calls);
    }

    [Fact]
    public void Begin_WhileOneIsUnderWay_IsRefused()
    {
        Begin();
        Assert.StartsWith("an upgrade is under way already", Upgrade.Begin(Asked()), StringComparison.Ordinal);
        Assert.Equal(["begin v2"], _apps.Calls);
    }

    [Theory]
    [InlineData(30, 30)]
    [InlineData(600, 60)]
    public void Tick_AppDoesNotSayHello_RefusesIt(int withinSeconds, int seconds)
    {
        Begin(TimeSpan.FromSeconds(withinSeconds));
        Pass(TimeSpan.FromSeconds(seconds) - TimeSpan.FromMilliseconds(1));
        Assert.Equal(InPlaceStage.Starting, Upgrade.Status.Stage);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Equal(InPlaceStage.Refused, Upgrade.Status.Stage);
        Assert.Contains($"has not said hello within {seconds} s", Upgrade.Status.Why, StringComparison.Ordinal);
        Assert.Equal(["begin v2", "ended False"], _apps.Calls);
        Assert.False(_node.Parts.Upgrades.Tokens.IsAny(s_next));
    }

    [Fact]
    public void Tick_WhoAskedHasGone_GivesUp()
    {
        Begin();
        _time.Advance(TimeSpan.FromSeconds(5));
        Tick();
        Assert.Equal(InPlaceStage.GivenUp, Upgrade.Status.Stage);
    }

    [Fact]
    public void Refuse_AppThatWasStarted_EndsIt()
    {
        Begin();
        Assert.True(Upgrade.Refuse("it ended with code 2"));
        Assert.False(Upgrade.Refuse("again"));
        Assert.Equal((InPlaceStage.Refused, "it ended with code 2"), (Upgrade.Status.Stage, Upgrade.Status.Why));
        Assert.Null(Upgrade.Begin(Asked())); // the next one may
    }

    /// <summary>The running app is the old one of two from the hello on, and the app again where the upgrade is given up.</summary>
    [Fact]
    public void TryMeet_ThenGivenUp_TurnsBack()
    {
        Begin();
        Assert.True(Upgrade.TryMeet(Hello()));
        Assert.False(Upgrade.TryMeet(Hello()));
        AppTokens tokens = _node.Parts.Upgrades.Tokens;
        Assert.True(tokens.IsOld(Node.Token));
        Assert.Equal((2u, true), (_node.Parts.Upgrades.Parts!.Options.To, _node.Parts.Upgrades.Parts.Options.IsInPlace));
        Pass(TimeSpan.FromMinutes(10));
        Assert.Equal(InPlaceStage.GivenUp, Upgrade.Status.Stage);
        Assert.Contains("no rehearsal has worked within --within", Upgrade.Status.Why, StringComparison.Ordinal);
        Assert.Equal((false, true, false), (tokens.IsOld(Node.Token), tokens.IsAny(Node.Token), tokens.IsAny(s_next)));
        Assert.Null(_node.Parts.Upgrades.Parts);
        Assert.Equal(["begin v2", "turn", "ended False"], _apps.Calls);
    }

    /// <summary>
    /// The new app waits beside the one that serves, and is asked about every few milliseconds: that takes no time from those who work.
    /// </summary>
    [Fact]
    public void AppThatWaits_IsAskedAboutAgain_ReadsTheLogNoMore()
    {
        Begin();
        var next = new SpokenApp(_node, listens: false, version: 2, new SpokenBuild(2), s_next);
        Assert.Equal(ReadAnswer.LogUnread, next.Answer);
        long operations = _disk.Operations;
        Assert.Equal(ReadAnswer.LogUnread, next.Again());
        Assert.Equal(operations, _disk.Operations);
    }

    /// <summary>Called, it shuts the doors; one that is not done within its limit opens them again.</summary>
    [Fact]
    public void Call_NotDoneWithinItsLimit_OpensTheDoors()
    {
        Begin();
        Upgrade.TryMeet(Hello());
        UpgradeRound round = _node.Parts.Upgrades.Parts!.Round;
        Assert.True(round.TryCall());
        Assert.True(round.IsCalled);
        Lsn tail = _node.Parts.Log.Tail;
        _node.Forget(new InstanceId("other"));
        Assert.Equal(tail, _node.Parts.Log.Tail);
        Pass(TimeSpan.FromSeconds(10));
        Assert.True(round.IsGivenUp);
        Assert.False(round.IsCalled);
        Assert.Contains("it was not done within --limit 10 s", Upgrade.Status.Why, StringComparison.Ordinal);
        Assert.False(round.TryCall());
    }

    /// <summary>While the new app is on its way back from a rehearsal the doors stay open, or callers would wait for that, too.</summary>
    [Fact]
    public void Passed_NewAppIsNotBack_ShutsTheDoorsOnceItIs()
    {
        Begin();
        Upgrade.TryMeet(Hello());
        for (int i = 0; i < UpgradeRehearsal.PassesMin; i++)
        {
            Pass(TimeSpan.FromMilliseconds(300));
            _node.Parts.Upgrades.Parts!.Rehearsal.Answered(new ConvertedFrame(Lsn.Zero, ConversionUse.Rehearsal, 1, 1, ""));
        }
        Pass(TimeSpan.FromMilliseconds(300));
        Assert.Equal(InPlaceStage.Rehearsing, Upgrade.Status.Stage);
        StateHandover handover = _node.Parts.Upgrades.Handover;
        handover.Came(Hello());
        Assert.Null(handover.TryGive()); // its next session looks for a state
        Pass(TimeSpan.FromMilliseconds(20));
        Assert.Equal(InPlaceStage.Switching, Upgrade.Status.Stage);
    }

    /// <summary>
    /// An app that is asked for its state right behind records says by the state's place that it has executed them, and no more (protocol
    /// P5.7): the switch begins although no other input follows.
    /// </summary>
    [Fact]
    public void Call_StateAloneSaidWhatIsExecuted_Converts()
    {
        Begin();
        Upgrade.TryMeet(Hello());
        Tick(); // it asks for the state
        Lsn end = TakeRecords();

        _app.Send(new ConvertedFrame(end, ConversionUse.State, 0, 0, ""));
        _app.Send(new ImageBegin(end, 1));
        Assert.True(_node.Parts.Execution.Progress.IsDry);
        byte[] state = [1, 2, 3];
        _app.Send(Made.Frame(FrameType.ImageChunk, state));
        _app.Send(new ImageEnd(3, ChannelHash.Append(0, state)));
        UpgradeRound round = _node.Parts.Upgrades.Parts!.Round;
        Assert.True(round.TryCall());
        _app.Listen();
        Assert.Equal(UpgradeStage.Converting, round.Stage);
    }

    /// <summary>So does the image of a checkpoint, and the sender is told that the conversion may begin.</summary>
    [Fact]
    public void Call_CheckpointAloneSaysWhatIsExecuted_WakesTheSender()
    {
        Begin();
        Upgrade.TryMeet(Hello());
        UpgradeRound round = _node.Parts.Upgrades.Parts!.Round;
        Lsn end = TakeRecords();
        Assert.True(round.TryCall());
        _app.Listen();
        Assert.Equal(UpgradeStage.Wanted, round.Stage);

        int wakes = _app.Wakes;
        _app.Send(new ImageBegin(end, 1));
        Assert.Equal(wakes + 1, _app.Wakes);
        _app.Listen();
        Assert.Equal(UpgradeStage.Converting, round.Stage);
    }

    /// <summary>The app is given the mark of a checkpoint, and executes it; returns where it ends.</summary>
    private Lsn TakeRecords()
    {
        _app.Reports = false;
        _node.Parts.Checkpoints.Request();
        Tick();
        while (_node.Parts.Checkpoints.Step()) { }
        _node.Commit();
        _app.Listen();
        Assert.Contains(_app.Records, static record => record.Kind == RecordKind.CheckpointMark);
        Assert.False(_node.Parts.Execution.Progress.IsDry);
        return _node.Parts.Execution.Progress.DeliveredTo;
    }

    /// <summary>A binding that takes part in no upgrade ends where it is asked: it is not asked again and again.</summary>
    [Fact]
    public void Tick_AppThatServesEndsWhenItIsAsked_GivesUp()
    {
        Begin();
        Upgrade.TryMeet(Hello());
        Tick();
        _app.Listen();
        Assert.True(_node.Parts.Upgrades.Handover.AwaitsOldApp);
        _app.End();
        Assert.Equal((InPlaceStage.GivenUp, "the app that serves ended when it was asked for its state"),
            (Upgrade.Status.Stage, Upgrade.Status.Why));
        new SpokenApp(_node).BecomePrimary(); // and serves again
    }

    private void Begin(TimeSpan? within = null)
    {
        Upgrade.Apps = _apps;
        Assert.Null(Upgrade.Begin(Asked(within)));
    }

    private static InPlaceRequest Asked(TimeSpan? within = null) =>
        within is { } time ? new InPlaceRequest(["v2"]) { Within = time } : new InPlaceRequest(["v2"]);

    private static AppHello Hello() => new(1, 1, s_next, 2, 0, "test", "test", "", "", 0, 1);

    /// <summary>Time passes, and whoever asked goes on asking.</summary>
    private void Pass(TimeSpan time)
    {
        _time.Advance(time);
        Upgrade.Ask();
        Tick();
    }

    private void Tick() => _node.Parts.Tick(isQuiet: true);

    /// <summary>Notes what it is asked for.</summary>
    private sealed class FakeApps : IInPlaceApps
    {
        public bool IsOldServing => false;

        public List<string> Calls { get; } = [];

        public string? Wrong { get; set; }

        public IReadOnlyList<string> Running => ["v1"];

        public string? WhatIsWrong(IReadOnlyList<string> app) => Wrong;

        public ReadOnlyMemory<byte> Begin(IReadOnlyList<string> app)
        {
            Calls.Add($"begin {app[0]}");
            return s_next;
        }

        public void TurnTo(AppPair pair) => Calls.Add("turn");

        public void Switches(uint to) => Calls.Add($"switches {to}");

        public void Ended(bool isMade) => Calls.Add($"ended {isMade}");
    }
}
