using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol.Frames;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>An app that does not get on is told of after a while, then ever more seldom, and when it is over.</summary>
public sealed class AppWatchTests
{
    private readonly FakeTime _time = new();
    private readonly Node _node;

    public AppWatchTests() => _node = new Node(new SimulatedFileSystem(), _time, OpenedLog.Small);

    private AppWatch Watch => _node.Parts.AppWatch;

    [Fact]
    public void Tick_NoAppConnects_IsToldAfter5sAndAtGrowingIntervals()
    {
        Pass(seconds: 4);
        Assert.Null(Watch.Overdue);
        Pass(seconds: 40);
        Assert.Equal(["5 s", "10 s", "20 s", "40 s"], Told("no app has been connected for "));
        Assert.Equal(AppWaitKind.Connection, Watch.Overdue!.Value.Kind);
        Pass(seconds: 4000);
        int between = Last("no app has been connected for ", 0) - Last("no app has been connected for ", 1);
        Assert.Equal(AppWatch.AgainMax, TimeSpan.FromSeconds(between));

        _ = new SpokenApp(_node);
        Pass(seconds: 1);
        Assert.Null(Watch.Overdue);
        Assert.Single(_node.Lines, static line => line.StartsWith("the app goes on, after ", StringComparison.Ordinal));
    }

    [Fact]
    public void Tick_RecordIsNotReportedAsExecuted_IsNamedUntilItIs()
    {
        SpokenApp app = Begun();
        Pass(seconds: 9);
        Assert.Null(Watch.Overdue);
        Pass(seconds: 12);
        Assert.Equal(["10 s", "20 s"], Told("the app has been executing the record at Lsn 0 for "));
        Assert.Equal(
            new AppWait(AppWaitKind.Record, new ExecutingPlace(Protocol.Lsn.Zero, null), TimeSpan.FromSeconds(21)), Watch.Overdue);

        app.Send(new ProcessedFrame(_node.Parts.Execution.Progress.DeliveredTo));
        Pass(seconds: 1);
        Assert.Null(Watch.Overdue);
        Assert.Single(_node.Lines, static line => line.StartsWith("the app goes on, after 21 s", StringComparison.Ordinal));
    }

    /// <summary>It is slow, and gets on: no record has taken long.</summary>
    [Fact]
    public void Tick_AppReportsNowAndThen_NothingIsTold()
    {
        SpokenApp app = Begun();
        var half = new Protocol.Lsn(_node.Parts.Execution.Progress.DeliveredTo.Value / 2);
        Pass(seconds: 9);
        app.Send(new ProcessedFrame(half));
        Pass(seconds: 9);
        app.Send(new ProcessedFrame(_node.Parts.Execution.Progress.DeliveredTo));
        app.Send(new PrimaryReady(_node.Parts.Durable));
        Pass(seconds: 100);
        Assert.Empty(_node.Lines);
    }

    /// <summary>The app looks at itself once a second, so it names the message when the record was seen already.</summary>
    [Fact]
    public void Tick_AppNamesTheMessageLater_HasNotGotOn()
    {
        SpokenApp app = Begun();
        Pass(seconds: 11);
        app.Send(new ExecutingFrame(new Protocol.MessagePlace(Protocol.Lsn.Zero, 2)));
        Pass(seconds: 10);
        Assert.Equal(["10 s"], Told("the app has been executing the record at Lsn 0 for "));
        Assert.Equal(["20 s"], Told("the app has been executing the record at Lsn 0:2 for "));
        Assert.DoesNotContain(_node.Lines, static line => line.StartsWith("the app goes on", StringComparison.Ordinal));
    }

    /// <summary>A record of many messages takes long, and none of them does.</summary>
    [Fact]
    public void Tick_AppGetsOnWithinARecord_IsNotToldUntilOneMessageHangs()
    {
        SpokenApp app = Begun();
        for (uint index = 0; index < 5; index++)
        {
            app.Send(new ExecutingFrame(new Protocol.MessagePlace(Protocol.Lsn.Zero, index)));
            Pass(seconds: 9);
        }
        Assert.Empty(_node.Lines);
        app.Send(new ExecutingFrame(new Protocol.MessagePlace(Protocol.Lsn.Zero, 3))); // out of date
        Pass(seconds: 2);
        Assert.Equal(["10 s"], Told("the app has been executing the record at Lsn 0:4 for "));
    }

    [Fact]
    public void Tick_AppSaysWhichRecordItExecutes_ThatIsNamed()
    {
        SpokenApp app = Begun();
        Protocol.Lsn given = _node.Parts.Execution.Progress.DeliveredTo, record = new(given.Value - 1);
        Pass(seconds: 9);
        app.Send(new ExecutingFrame(new Protocol.MessagePlace(record, 2))); // it has got on
        Pass(seconds: 9);
        Assert.Empty(_node.Lines);
        Pass(seconds: 1);
        Assert.Equal(["10 s"], Told($"the app has been executing the record at Lsn {record}:2 for "));
        Assert.Equal(Protocol.Lsn.Zero, _node.Parts.Execution.Progress.Processed); // which is for reports alone to say
        app.Send(new ExecutingFrame(default)); // out of date
        Assert.Equal(new ExecutingPlace(record, 2), _node.Parts.Execution.Progress.Executing);
        Assert.Equal("P5.20", Assert.Throws<Protocol.ProtocolViolation>(
            () => app.Send(new ExecutingFrame(new Protocol.MessagePlace(given + 1, 0)))).Section);
    }

    [Fact]
    public void Tick_AppThatHangsIsGone_DoesNotGoOn()
    {
        SpokenApp app = Begun();
        Pass(seconds: 11);
        app.End();
        Pass(seconds: 3);
        Assert.Null(Watch.Overdue);
        _ = Begun();
        Pass(seconds: 11);
        Assert.Equal(["10 s", "10 s"], Told("the app has been executing the record at Lsn 0 for "));
        Assert.DoesNotContain(_node.Lines, static line => line.StartsWith("the app goes on", StringComparison.Ordinal));
    }

    [Fact]
    public void Tick_AppDoesNotAnswerThatItIsPrimary_IsTold()
    {
        var app = new SpokenApp(_node);
        Pass(seconds: 11);
        Assert.Equal(["10 s"], Told("the app has been in BecomingPrimary for "));
        Assert.Equal(AppWaitKind.BecomingPrimary, Watch.Overdue!.Value.Kind);
        app.BecomePrimary();
        Pass(seconds: 1);
        Assert.Null(Watch.Overdue);
    }

    /// <summary>Makes an app that takes what it is given and says nothing.</summary>
    private SpokenApp Begun()
    {
        _node.Commit();
        var app = new SpokenApp(_node, listens: false);
        while (app.Session.TryTake(out _)) app.Session.Taken();
        Assert.False(_node.Parts.Execution.Progress.IsDry);
        return app;
    }

    private void Pass(int seconds)
    {
        _node.Parts.LookAtApp(_time.GetElapsedTime(0));
        for (; seconds > 0; seconds--)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            _node.Parts.LookAtApp(_time.GetElapsedTime(0));
        }
    }

    private IEnumerable<string> Told(string beginning) =>
        _node.Lines.Where(line => line.StartsWith(beginning, StringComparison.Ordinal))
            .Select(line => string.Join(' ', line[beginning.Length..].Split(' ', ':', ';')[..2]));

    private int Last(string beginning, int before) => int.Parse(Told(beginning).Reverse().ElementAt(before).Split(' ')[0]);
}
