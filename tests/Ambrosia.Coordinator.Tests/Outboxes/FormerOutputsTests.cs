using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The app dies alone, and the next one does otherwise what was executed before: that is found by what the coordinator still knows, before
/// anything of it leaves.
/// </summary>
public sealed class FormerOutputsTests
{
    private static readonly LogOptions s_options = OpenedLog.Small with { Pages = 4 };

    private readonly FakeTime _time = new();
    private readonly Node _node;

    public FormerOutputsTests() => _node = new Node(new SimulatedFileSystem(), _time, s_options);

    [Fact]
    public void Replay_ThatIsTheSame_GoesOn()
    {
        SpokenApp first = Primary(1, 2);
        Input(first);
        Call(first, 3);
        Report(first);
        first.End();

        SpokenApp second = Begin();
        Call(second, 1);
        Call(second, 2, 3);
        Report(second);
        second.BecomePrimary();
        Input(second);
        Call(second, 4);
        Report(second);
        Assert.Equal(4ul, Peer.Known.Number);
    }

    /// <summary>Behind the end of a channel nothing is compared: the call would be sent, and found at the peer's next hello.</summary>
    [Fact]
    public void Replay_ThatMakesOneCallMore_EndsBeforeTheCallIsKept()
    {
        Primary(1, 2).End();
        SpokenApp second = Begin();
        Call(second, 1, 2);
        AssertDiffers("to peer: below log position", () => Call(second, 3));
        Assert.Equal(2ul, Peer.Known.Number);
        Assert.NotNull(_node.Parts.Execution.Digests.Diverged);
    }

    /// <summary>In one run with calls that are known.</summary>
    [Fact]
    public void Replay_WhoseRunGoesBeyondWhatIsKnown_Ends()
    {
        Primary(1, 2).End();
        SpokenApp second = Begin();
        AssertDiffers("the app makes 3 calls, and had made no more than 2", () => Call(second, 1, 2, 3));
        Assert.Equal(2ul, Peer.Known.Number);
    }

    [Fact]
    public void Replay_ThatCallsSomebodyElse_EndsBeforeTheCallIsKept()
    {
        Primary(1, 2).End();
        SpokenApp second = Begin();
        second.Send(new DestinationFrame(1, new InstanceId("stranger")));
        AssertDiffers("to stranger: below log position", () => CallAt(1, second, 1));
        Assert.False(_node.Parts.Outputs.Outboxes.GetOrAdd(new InstanceId("stranger")).HasUnsent);
    }

    [Fact]
    public void Replay_ThatLeavesACallOut_EndsAtThePlaceOfTheFirst()
    {
        Primary(1, 2).End();
        SpokenApp second = Begin();
        Call(second, 1);
        AssertDiffers("the app made 1 calls with hash", () => Report(second));
    }

    /// <summary>
    /// Calls that are all alike, of which the first app made some behind the last place that it reported: the channel's end is the same.
    /// </summary>
    [Fact]
    public void Replay_ThatMakesTheLastCallsEarlier_EndsAtTheReportedPlace()
    {
        Lsn reported = DieBehindItsReport(static app => Call(app, 7), 7, 7);

        SpokenApp second = Begin();
        Assert.Equal([reported], second.Marks);
        Call(second, 7, 7, 7);
        AssertDiffers("the app made 3 calls with hash", () => second.Send(new ProcessedFrame(reported)));
    }

    /// <summary>The first app never reported what it did of a record: that is compared where the next one has executed all.</summary>
    [Fact]
    public void Replay_ThatLeavesACallOutBehindTheReportedPlace_EndsBeforeItIsPrimary()
    {
        Lsn reported = DieBehindItsReport(static app => Call(app, 3), 1, 2);

        SpokenApp second = Begin();
        Call(second, 1, 2);
        second.Send(new ProcessedFrame(reported));
        Report(second);
        AssertDiffers("after 2 calls the hash is", second.BecomePrimary);
    }

    [Fact]
    public void Replay_ThatAnswersOtherwise_EndsAndNothingOfItIsGiven()
    {
        SpokenApp first = Primary(1);
        Input(first);
        Answer(first, 5);
        Report(first);
        first.End();

        SpokenApp second = Begin();
        Call(second, 1);
        Answer(second, 6);
        AssertDiffers("in the answers to callers outside: the app gave 1 with hash", () => Report(second));
    }

    [Theory]
    [InlineData(null)]
    [InlineData((byte)6)]
    public void Replay_ThatAnswersOtherwiseBehindTheReportedPlace_EndsBeforeItIsPrimary(byte? answer)
    {
        Lsn reported = DieBehindItsReport(static app => Answer(app, 5), 1);

        SpokenApp second = Begin();
        Call(second, 1);
        second.Send(new ProcessedFrame(reported));
        if (answer is { } value) Answer(second, value);
        Report(second);
        AssertDiffers("in the answers to callers outside", second.BecomePrimary);
    }

    /// <summary>An app that dies in its replay does not make the next one's shorter.</summary>
    [Fact]
    public void Replay_BehindOneThatDiedInItsReplay_IsHeldAgainstTheFirst()
    {
        SpokenApp first = Primary(1, 2);
        Lsn early = first.Given;
        Input(first);
        Call(first, 3);
        Report(first);
        first.End();
        SpokenApp second = Begin();
        Call(second, 1, 2);
        second.Send(new ProcessedFrame(early));
        second.End();

        SpokenApp third = Begin();
        Call(third, 1, 2, 3);
        AssertDiffers("the app makes 4 calls, and had made no more than 3", () => Call(third, 4));
    }

    /// <summary>Inputs that came while no app was there are executed for the first time, and what they make is new.</summary>
    [Fact]
    public void Replay_ThatGoesOnWithNewInputs_MakesNewCallsBeforeItIsPrimary()
    {
        SpokenApp first = Primary(1, 2);
        Lsn reported = first.Given;
        first.End();
        Append();

        SpokenApp second = Begin();
        Call(second, 1, 2);
        second.Send(new ProcessedFrame(reported));
        Call(second, 3);
        Report(second);
        second.BecomePrimary();
        Assert.Equal(3ul, Peer.Known.Number);
        second.End();

        SpokenApp third = Begin();
        Call(third, 1, 2);
        AssertDiffers("the app made 2 calls with hash", () => Report(third));
    }

    /// <summary>A page with a digest position of its own has no mark at the place, which is passed; what comes behind counts.</summary>
    [Fact]
    public void Replay_ThatPassesThePlaceWithoutAReport_IsComparedAgainFromThereOn()
    {
        using var bench = new OutboxBench();
        FormerOutputs former = bench.Set.Former;
        former.BeginSession(Lsn.Zero, default, default);
        former.Touch(bench.Outbox);
        bench.Append(Calls(1));
        former.Reported(new Lsn(100), default);

        bench.Outbox.BeginSession(default);
        former.BeginSession(Lsn.Zero, default, default);
        bench.Append(Calls(1, 2));
        former.Reported(new Lsn(150), default);

        bench.Outbox.BeginSession(default);
        former.BeginSession(Lsn.Zero, default, default);
        bench.Append(Calls(1, 2));
        former.Reported(new Lsn(150), default);
    }

    /// <summary>A forgotten receiver's channel begins anew, and so does what is compared.</summary>
    [Fact]
    public void Replay_BehindAForgottenReceiver_IsComparedFromThereOn()
    {
        using var bench = new OutboxBench();
        Outbox outbox = bench.Set.GetOrAdd(OutboxBench.Peer);
        FormerOutputs former = bench.Set.Former;
        former.BeginSession(Lsn.Zero, default, default);
        bench.Append(Calls(1, 2));
        former.Touch(outbox);
        former.Reported(new Lsn(100), default);
        outbox.Cut();
        former.Touch(outbox);
        bench.Append(Calls(3));
        former.Reported(new Lsn(200), default);

        outbox.BeginSession(default);
        former.BeginSession(Lsn.Zero, default, default);
        Assert.Equal(new Lsn(200), former.Awaited);
        former.RequireKnown(outbox, 5); // of the one that was forgotten since: nobody gets them
        outbox.Cut();
        Assert.Throws<DivergenceException>(() => former.RequireKnown(outbox, 2));
        former.RequireKnown(outbox, 1);
        Assert.Throws<DivergenceException>(() => former.Reported(new Lsn(200), default));
        bench.Append(Calls(3));
        former.Reported(new Lsn(200), default);
        Assert.Null(former.Awaited);
        former.RequireAll(default);
    }

    private Outbox Peer => _node.Parts.Outputs.Outboxes.GetOrAdd(OutboxBench.Peer);

    /// <summary>An app that makes these calls when it executes the first record, and becomes primary.</summary>
    private SpokenApp Primary(params ulong[] calls)
    {
        SpokenApp app = Begin();
        Call(app, calls);
        Report(app);
        app.BecomePrimary();
        return app;
    }

    /// <summary>
    /// Runs an app that makes these calls and reports them, does something of the next record, and dies. Returns the place of the report.
    /// </summary>
    private Lsn DieBehindItsReport(Action<SpokenApp> unreported, params ulong[] calls)
    {
        SpokenApp app = Primary(calls);
        Lsn reported = app.Given;
        Input(app);
        unreported(app);
        app.End();
        return reported;
    }

    private SpokenApp Begin()
    {
        var app = new SpokenApp(_node, listens: false) { Reports = false };
        app.Listen();
        app.Send(new DestinationFrame(0, OutboxBench.Peer));
        return app;
    }

    private void Append()
    {
        var appender = new LogAppender(ReplicaLog.Of(_node.Parts.Log), _node.Parts.Log.ReserveBytesMax, static _ => { });
        Assert.True(appender.TryAppend(new TrimRecord([]), out _));
        _node.Commit();
    }

    /// <summary>Something comes, and is given to the app.</summary>
    private void Input(SpokenApp app)
    {
        Append();
        Lsn before = app.Given;
        app.Listen();
        Assert.NotEqual(before, app.Given);
    }

    private static byte[] Calls(params ulong[] numbers) =>
        Made.Run(MessageKind.Fork, 0, 0, [.. numbers.Select(static number => Made.Message(MessageKind.Fork, number, 4))]);

    private static void Call(SpokenApp app, params ulong[] numbers) => CallAt(0, app, numbers);

    private static void CallAt(uint peer, SpokenApp app, params ulong[] numbers) => app.Send(Made.Frame(FrameType.Run,
        Made.Run(MessageKind.Fork, 0, 0, [.. numbers.Select(static number => Made.Message(MessageKind.Fork, number, 4))], peer: peer)));

    private static void Answer(SpokenApp app, byte value) => app.Send(Made.Frame(FrameType.Run,
        Made.Run(MessageKind.ClientAnswer, 1, 1, [Made.Raw(7, [.. Made.Varint(1), value])])));

    private static void Report(SpokenApp app) => app.Send(new ProcessedFrame(app.Given));

    private static void AssertDiffers(string how, Action act)
    {
        var diverged = Assert.Throws<DivergenceException>(act);
        Assert.StartsWith($"{DivergenceException.Cause}: replay differs ", diverged.Message, StringComparison.Ordinal);
        Assert.Contains(how, diverged.Message, StringComparison.Ordinal);
    }
}
