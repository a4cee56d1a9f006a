using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Holds that a redeploy rewrites no history: another build of the app is held against what is recorded, handler by handler, before it is
/// given anything.
/// </summary>
public sealed class RedeployTests
{
    private static readonly LogOptions s_options = new() { PageBytes = 64 << 10, SegmentBytes = 4 << 20 };

    private readonly SimulatedFileSystem _disk = new();
    private readonly FakeTime _time = new();

    /// <summary>A log of one epoch: its first build has executed the first start and three calls of method 1.</summary>
    private Node Recorded(SpokenBuild build)
    {
        var node = new Node(_disk, _time, s_options);
        var app = new SpokenApp(node, build: build);
        app.BecomePrimary();
        CallSelf(node, app, count: 3, method: 1);
        return node;
    }

    private static void CallSelf(Node node, SpokenApp app, int count, uint method)
    {
        app.Send(new DestinationFrame(0, new InstanceId("self")));
        byte[][] calls = [.. Enumerable.Range(0, count).Select(_ => Made.Raw(method, [7]))];
        Assert.Equal(ReadAnswer.More, app.Send(Made.Frame(FrameType.Run, Made.Run(MessageKind.Impulse, 1, 0, calls))));
        app.Session.Pause(drained: true);
        node.Commit();
        app.Listen();
    }

    private string Refusal(SpokenBuild build, string? accepted = null)
    {
        var node = new Node(_disk, _time, s_options, acceptBuild: accepted);
        string why = Assert.Throws<RedeployRefusedException>(() => new SpokenApp(node, build: build)).Message;
        Assert.Null(node.Parts.Sessions.Live);
        node.Kill();
        return why;
    }

    private List<string> LinesOfAccepted(SpokenBuild build, string? accepted = null)
    {
        var node = new Node(_disk, _time, s_options, acceptBuild: accepted);
        var app = new SpokenApp(node, build: build);
        app.BecomePrimary();
        Assert.Contains(app.Records, static record => record.Kind == RecordKind.ImpulseRun);
        node.Commit();
        node.Kill();
        return node.Lines;
    }

    [Fact]
    public void SameBuild_AfterAKill_GoesOn()
    {
        Recorded(new SpokenBuild(1)).Kill();
        Assert.DoesNotContain(LinesOfAccepted(new SpokenBuild(1)), static line => line.Contains("build", StringComparison.Ordinal));
    }

    [Fact]
    public void OtherBuild_WhoseCalledMethodDiffers_IsRefusedByName()
    {
        Recorded(new SpokenBuild(1)).Kill();
        string why = Refusal(new SpokenBuild(2, One: 'b', Two: 'b'));
        Assert.Contains("4 inputs behind the newest checkpoint were executed by build 00000000", why, StringComparison.Ordinal);
        Assert.Contains("ITest.One (3 calls)", why, StringComparison.Ordinal);
        Assert.DoesNotContain("ITest.Two", why, StringComparison.Ordinal);
        Assert.Contains("--accept-build 00000000", why, StringComparison.Ordinal);
    }

    [Fact]
    public void OtherBuild_WhoseUncalledMethodDiffers_GoesOnAndSaysSo()
    {
        Recorded(new SpokenBuild(1)).Kill();
        Assert.Contains(LinesOfAccepted(new SpokenBuild(2, Two: 'b')),
            static line => line.Contains("executes them alike", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("outside", "what is no method's body")]
    [InlineData("first", "the first start")]
    public void OtherBuild_ThatDiffersElsewhere_IsRefused(string where, string named)
    {
        Recorded(new SpokenBuild(1)).Kill();
        SpokenBuild other = where == "outside" ? new SpokenBuild(2) { Outside = "x" } : new SpokenBuild(2) { First = "x" };
        Assert.Contains(named, Refusal(other), StringComparison.Ordinal);
    }

    [Fact]
    public void OtherBuild_WhoseResumedMethodsDifferAndNothingIsResumed_GoesOn()
    {
        Recorded(new SpokenBuild(1)).Kill();
        Assert.Contains(LinesOfAccepted(new SpokenBuild(2) { Resumed = "x" }),
            static line => line.Contains("executes them alike", StringComparison.Ordinal));
    }

    [Fact]
    public void OtherBuild_OfWhosePredecessorNothingIsKept_IsRefused()
    {
        Recorded(new SpokenBuild(1)).Kill();
        _disk.ForProcess("operator").Delete($"{Node.Directory}/contracts/build.{new SpokenBuild(1).Id}.json");
        Assert.Contains("not in contracts/ any more", Refusal(new SpokenBuild(2)), StringComparison.Ordinal);
    }

    /// <summary>The operator's word is for one build, and holds once that has executed an epoch: then it is the one that counts.</summary>
    [Fact]
    public void AcceptedBuild_GoesOnAndIsTheOneThatCounts()
    {
        var accepted = new SpokenBuild((UInt128)0xABCDEF12 << 96, One: 'b');
        Recorded(new SpokenBuild(1)).Kill();
        Refusal(accepted, accepted: "12345678");
        Assert.Contains(LinesOfAccepted(accepted, accepted: "abcdef12"),
            static line => line.Contains("as --accept-build allows: ITest.One", StringComparison.Ordinal));
        Assert.DoesNotContain(LinesOfAccepted(accepted), static line => line.Contains("build", StringComparison.Ordinal));
        Assert.Contains("executed by build abcdef12", Refusal(new SpokenBuild(1)), StringComparison.Ordinal);
    }

    [Fact]
    public void AppWithoutABuild_IsNotJudged()
    {
        Recorded(new SpokenBuild(1)).Kill();
        var node = new Node(_disk, _time, s_options);
        var app = new SpokenApp(node);
        app.BecomePrimary();
        Assert.Equal(1, app.Records.Count(static record => record.Kind == RecordKind.FirstStart));
    }

    /// <summary>One build executes an epoch, so that its Build record says who executed all of it.</summary>
    [Fact]
    public void OtherBuild_InTheSameEpoch_IsRefusedEvenIfAlike()
    {
        Node node = Recorded(new SpokenBuild(1));
        node.Parts.Sessions.Live!.End("its process was killed");
        string why = Assert.Throws<RedeployRefusedException>(() => new SpokenApp(node, build: new SpokenBuild(2))).Message;
        Assert.Contains("Start the coordinator again", why, StringComparison.Ordinal);
    }

    [Fact]
    public void Secondary_OfAnotherBuild_WaitsAndExecutesNothing()
    {
        Node primary = Recorded(new SpokenBuild(1));
        var secondary = new Node(_disk, _time, s_options, "r1");
        var app = new SpokenApp(secondary, build: new SpokenBuild(2, One: 'b'));
        Assert.Equal(ReadAnswer.LogUnread, app.Answer);
        Assert.Contains("that of the primary is build", secondary.Parts.Sessions.Admission.WaitsBecause, StringComparison.Ordinal);
        Assert.Equal(ReadAnswer.LogUnread, app.Again()); // it is not looked at so soon
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(ReadAnswer.LogUnread, app.Again());
        Assert.Single(secondary.Lines, static line => line.Contains("this replica waits", StringComparison.Ordinal));
        Assert.Empty(app.Records);
        primary.Kill();
        _time.Advance(TimeSpan.FromSeconds(1));
        string why = Assert.Throws<RedeployRefusedException>(() => app.Again()).Message;
        Assert.Contains("ITest.One (3 calls)", why, StringComparison.Ordinal);
    }

    [Fact]
    public void Secondary_OfAnotherBuildThatIsAlike_GoesOnOnceNoOtherIsPrimary()
    {
        Node primary = Recorded(new SpokenBuild(1));
        var secondary = new Node(_disk, _time, s_options, "r1");
        bool isAccepted = false;
        secondary.Parts.Sessions.Admission.Accepted += () => isAccepted = true;
        var app = new SpokenApp(secondary, build: new SpokenBuild(2, Two: 'b'));
        Assert.False(isAccepted);
        primary.Kill();
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(ReadAnswer.LogUnread, app.Again()); // it is given nothing before the log is its replica's
        Assert.True(isAccepted);
        Assert.Null(secondary.Parts.Sessions.Admission.WaitsBecause);
        secondary.BecomePrimary();
        Assert.Equal(ReadAnswer.More, app.Again());
        app.BecomePrimary();
        Assert.True(app.Session.IsPrimary);
    }

    /// <summary>A primary whose app was replaced: who follows with the build before must not execute what the new one is given.</summary>
    [Fact]
    public void Secondary_WhosePrimaryIsReplacedByAnotherBuild_StopsBeforeItsRecords()
    {
        Node first = Recorded(new SpokenBuild(1));
        var follower = new Node(_disk, _time, s_options, "r1");
        var app = new SpokenApp(follower, build: new SpokenBuild(1));
        first.Kill();
        var primary = new Node(_disk, _time, s_options);
        var other = new SpokenApp(primary, build: new SpokenBuild(2, Two: 'b'));
        other.BecomePrimary();
        CallSelf(primary, other, count: 1, method: 2);
        Assert.True(primary.Parts.Log.AppendMark()); // it states what stands before it
        primary.Commit();
        follower.Follow(100);
        Assert.Throws<BuildReplacedException>(app.Listen);
        Assert.Single(app.Records, static record => record.Kind == RecordKind.Build); // that of its own build
    }

    [Fact]
    public void BuildRecord_OfAnEpoch_SaysWhatExecutesIt()
    {
        Node node = Recorded(new SpokenBuild(5));
        var app = new SpokenApp(Restarted(node), build: new SpokenBuild(5));
        BuildRecord record = BuildRecord.Read(Assert.Single(app.Records, static each => each.Kind == RecordKind.Build).Body);
        Assert.Equal((new Epoch(1), 1u, (BuildId?)new BuildId(5), "test"), (record.Epoch, record.AppVersion, record.Build, record.Binding));
    }

    private Node Restarted(Node node)
    {
        node.Kill();
        return new Node(_disk, _time, s_options);
    }

    [Fact]
    public void MethodsOfABuild_ThatAreNoneOrOfAnother_BreakTheProtocol()
    {
        var node = new Node(_disk, _time, s_options);
        foreach (byte[] frame in new[]
        {
            Made.Frame(FrameType.BuildMethods, "{}"u8), Made.Frame(FrameType.BuildMethods, new SpokenBuild(2).Methods),
            Made.Frame(new ProcessedFrame(Lsn.Zero)),
        })
        {
            var app = new SpokenGreeting(node, new SpokenBuild(1).Id);
            Assert.Throws<ProtocolViolation>(() => app.Send(frame));
        }
    }

    /// <summary>An app that has said a hello with a build, and nothing else.</summary>
    private sealed class SpokenGreeting
    {
        private readonly AppReader _reader;

        public SpokenGreeting(Node node, BuildId build)
        {
            _reader = node.Parts.NewSession(static () => { }).NewReader();
            Send(Made.Frame(new AppHello(1, 1, Node.Token, 1, 0, "test", "test", "", "", 0, 1) { Build = build }));
        }

        public void Send(byte[] bytes)
        {
            bytes.CopyTo(_reader.Space());
            _reader.Received(bytes.Length);
        }
    }
}
