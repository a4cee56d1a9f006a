using System.Buffers;
using System.Text;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Queries on their way through a coordinator: when the app is given one, who gets the answer, and what becomes of
/// those that nobody can answer.
/// </summary>
public sealed class PendingQueriesTests : IDisposable
{
    private const uint Seed = 42;

    private readonly OpenedLog _log = new("bank");
    private readonly FakeTime _time = new();
    private readonly PendingQueries _pending;
    private readonly ClientSessions _sessions;
    private readonly ServedReplica _replica;
    private readonly FrameQueue _toApp = new(0, checkPayload: false);
    private Lsn _durable = new(4096);
    private bool _mayAnswer = true;
    private int _wakes;

    public PendingQueriesTests()
    {
        _pending = new PendingQueries(_time, () => _durable, () => _wakes++);
        _replica = new ServedReplica(_log.Epoch);
        var pumps = new HandPumps();
        _sessions = new ClientSessions(
            _log.InputsFor(pumps, _time), _log.Appender, _pending, new PeerEventLog(pumps.Logger, _time), () => _mayAnswer, _replica);
    }

    public void Dispose() => _log.Dispose();

    private ClientSession Opened(bool queriesOnly = true)
    {
        var session = _sessions.New(new LinkTransport(Seed, "remote"));
        Feed(session, FrameType.ClientHello,
            Made.Payload(new ClientHello(1, 1, new InstanceId("bank"), Guid.Empty, "web", 1 << 20, queriesOnly)));
        Assert.True(session.TryTake(out ReadOnlyMemory<byte> welcome));
        session.Taken(welcome.Length);
        return session;
    }

    private static FeedResult Feed(ClientSession to, FrameType type, byte[] payload) =>
        to.Feed(Made.Frame(type, payload, Seed, checkPayload: true), drained: true, out _);

    private static byte[] QueryOf(ulong number, ulong position = 0, uint patienceMs = 1000, string text = "q", int bytes = 0)
    {
        var payload = new ArrayBufferWriter<byte>();
        new QueryFrame(number, new Lsn(position), patienceMs, 7, bytes > 0 ? new byte[bytes] : Encoding.UTF8.GetBytes(text)).Write(payload);
        return payload.WrittenSpan.ToArray();
    }

    private static void Ask(ClientSession session, ulong number, ulong position = 0, uint patienceMs = 1000, string text = "q") =>
        Assert.Equal(FeedResult.Continue, Feed(session, FrameType.Query, QueryOf(number, position, patienceMs, text)));

    /// <summary>What the app is given when the log was delivered up to here.</summary>
    private string[] Given(ulong position)
    {
        if (!_pending.HasReady(new Lsn(position))) return [];
        _pending.Give(new Lsn(position), _toApp);
        if (!_toApp.TryTake(out ReadOnlyMemory<byte> bytes)) return [];
        return [.. Made.FramesOf(bytes.Span, 0, checkPayload: false).Select(static frame => Line(frame.Payload))];

        static string Line(byte[] payload)
        {
            QueryFrame query = QueryFrame.Read(payload, 1 << 20);
            return $"{query.Query} at {query.Position} {(query.Arguments.Length > 100 ? "much" : Encoding.UTF8.GetString(query.Arguments))}";
        }
    }

    private bool Answer(ulong query, ulong position, string value = "a", QueryStatus status = QueryStatus.Value) =>
        _pending.Answered(new QueryAnswerFrame(query, status, new Lsn(position), Encoding.UTF8.GetBytes(value)), _durable);

    private static byte[] Encoded(FailureInfo failure)
    {
        var bytes = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(bytes);
        failure.Write(ref writer);
        writer.Flush();
        return bytes.WrittenSpan.ToArray();
    }

    private static string[] Told(ClientSession session)
    {
        if (!session.TryTake(out ReadOnlyMemory<byte> bytes)) return [];
        string[] told = [.. Made.FramesOf(bytes.Span, Seed, checkPayload: true).Select(static frame => Line(frame.Type, frame.Payload))];
        session.Taken(bytes.Length);
        return told;

        static string Line(FrameType type, byte[] payload)
        {
            if (type != FrameType.QueryAnswer) return $"{type}";
            QueryAnswerFrame answer = QueryAnswerFrame.Read(payload, 1 << 20);
            return $"{answer.Query} {answer.Status} at {answer.Position} {answer.Why}";
        }
    }

    [Fact]
    public void Query_WaitsForEverythingThatWasDurable_AndGoesBackToWhoAsked()
    {
        ClientSession one = Opened(), other = Opened();
        Ask(one, 1, text: "first");
        Ask(other, 1, text: "second");
        Assert.Equal(2, _wakes);
        Assert.Empty(Given(4095)); // not all that was durable when it came
        Assert.Equal(["1 at 0 first", "2 at 0 second"], Given(4096));
        Assert.Empty(Given(8192));
        Answer(2, 4096, "for the other");
        Answer(1, 4096, "for the one");
        Assert.Equal(["1 Value at 4096 for the one"], Told(one));
        Assert.Equal(["1 Value at 4096 for the other"], Told(other));
        Assert.Equal(0, _pending.Count);
    }

    /// <summary>A binding without queries answers like this (P5.22), at the query's own position, whatever it has executed.</summary>
    [Fact]
    public void Query_OfAnAppThatHasNone_IsAnsweredByTheNameOfThat()
    {
        ClientSession session = Opened();
        Ask(session, 1, position: 4000);
        Assert.Equal(["1 at 4000 q"], Given(4096));
        byte[] failure = Encoded(ListedFailures.NotSupported("queries"));
        _pending.Answered(new QueryAnswerFrame(1, QueryStatus.Failure, new Lsn(4000), failure), _durable);

        Assert.True(session.TryTake(out ReadOnlyMemory<byte> bytes));
        QueryAnswerFrame told = QueryAnswerFrame.Read(Assert.Single(Made.FramesOf(bytes.Span, Seed, checkPayload: true)).Payload, 1 << 20);
        Assert.Equal((1ul, QueryStatus.Failure, new Lsn(4000)), (told.Query, told.Status, told.Position));
        Assert.Equal(failure, told.Answer.ToArray());
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public void Query_OfAPositionAhead_WaitsForIt_AndHoldsNobodyUp()
    {
        ClientSession session = Opened();
        Ask(session, 1, position: 12288, text: "ahead");
        Ask(session, 2, text: "now");
        Assert.Equal(["2 at 0 now"], Given(8192));
        Assert.Equal(["1 at 12288 ahead"], Given(12288));
    }

    [Fact]
    public void Query_BeforeTheFirstRecord_WaitsForIt()
    {
        _durable = Lsn.Zero;
        ClientSession session = Opened();
        Ask(session, 1);
        Assert.Empty(Given(0));
        Assert.Equal(["1 at 0 q"], Given(4096));
    }

    [Fact]
    public void Query_ThatIsNotReachedInTime_IsToldWhy()
    {
        ClientSession session = Opened();
        Ask(session, 1, position: 1 << 20, patienceMs: 500);
        Ask(session, 2, patienceMs: 900);
        _pending.Tick();
        Assert.Empty(Told(session));
        _time.Advance(TimeSpan.FromMilliseconds(600));
        _pending.Tick();
        Assert.Equal(["1 NotNow at 4096 this replica knows the log up to 4096, and 1048576 is asked for"], Told(session));
        _time.Advance(TimeSpan.FromMilliseconds(600));
        _pending.Tick();
        Assert.Equal(["2 NotNow at 4096 this replica's app has not executed the log up to 4096 yet"], Told(session));
        Assert.Equal(0, _pending.Count);
    }

    /// <summary>However long a caller would wait: a minute.</summary>
    [Fact]
    public void Query_OfEndlessPatience_WaitsAMinute()
    {
        ClientSession session = Opened();
        Ask(session, 1, position: 1 << 20, patienceMs: uint.MaxValue);
        _time.Advance(TimeSpan.FromSeconds(59));
        _pending.Tick();
        Assert.Empty(Told(session));
        _time.Advance(TimeSpan.FromSeconds(2));
        _pending.Tick();
        Assert.Single(Told(session));
    }

    [Fact]
    public void App_ThatEnds_HasItsQueriesAskedAgain_ButNotForEver()
    {
        ClientSession session = Opened();
        Ask(session, 1);
        Assert.Single(Given(4096));
        _pending.AppEnded();
        Assert.Equal(["1 at 0 q"], Given(4096));
        _pending.AppEnded();
        Assert.Empty(Given(4096));
        string told = Assert.Single(Told(session));
        Assert.StartsWith("1 Failure at 0", told, StringComparison.Ordinal);
        Assert.Contains("perhaps the query ends it", told, StringComparison.Ordinal);
    }

    /// <summary>
    /// An app takes longer to come back than its callers' patience. A query that was sent away meanwhile would be asked again as a new
    /// one, and end the next app, here or of another replica, for as long as its caller has time.
    /// </summary>
    [Fact]
    public void App_ThatEndsAndComesBackLate_IsStillKnownToHaveEndedByIt()
    {
        ClientSession session = Opened();
        Ask(session, 1, patienceMs: 1000);
        Assert.Single(Given(4096));
        _pending.AppEnded();
        _time.Advance(TimeSpan.FromSeconds(30));
        _pending.Tick();
        Assert.Empty(Told(session));
        Assert.Equal(["1 at 0 q"], Given(4096));
        _pending.AppEnded();
        Assert.StartsWith("1 Failure at 0", Assert.Single(Told(session)), StringComparison.Ordinal);
    }

    /// <summary>Neither does it wait for ever for an app that does not come back.</summary>
    [Fact]
    public void App_ThatEndsAndStaysAway_LetsItsQueriesGo()
    {
        ClientSession session = Opened();
        Ask(session, 1, patienceMs: 1000);
        Assert.Single(Given(4096));
        _pending.AppEnded();
        _time.Advance(TimeSpan.FromMilliseconds(QueryFrame.PatienceMsMax));
        _pending.Tick();
        Assert.StartsWith("1 NotNow", Assert.Single(Told(session)), StringComparison.Ordinal);
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public void Caller_ThatGoes_LeavesNothingBehind()
    {
        ClientSession one = Opened(), other = Opened();
        Ask(one, 1, text: "at the app");
        Assert.Single(Given(4096));
        Ask(one, 2);
        Ask(other, 1, text: "stays");
        one.Ended("gone");
        Assert.Equal(["3 at 0 stays"], Given(4096));
        Answer(1, 4096); // nobody's
        _pending.AppEnded();
        Assert.Equal(1, _pending.Count);
        Assert.Empty(Told(other));
    }

    [Fact]
    public void Queries_MoreThanTheAppMayHave_WaitForAnAnswer()
    {
        ClientSession session = Opened();
        for (ulong number = 1; number <= PendingQueries.AtTheAppMax + 2; number++) Ask(session, number);
        Assert.Equal(PendingQueries.AtTheAppMax, Given(4096).Length);
        Assert.False(_pending.HasReady(new Lsn(4096)));
        Assert.True(Answer(1, 4096));
        Assert.Single(Given(4096));
        Answer(2, 4096);
        Assert.Single(Given(4096));
        Assert.False(Answer(3, 4096));
    }

    [Fact]
    public void Queries_MoreThanThereMayBe_AreRefusedAndNotKept()
    {
        var sessions = Enumerable.Range(0, PendingQueries.QueriesMax / 1024).Select(_ => Opened()).ToList();
        foreach (ClientSession session in sessions)
            for (ulong number = 1; number <= 1024; number++) Ask(session, number);
        ClientSession late = Opened();
        Ask(late, 1);
        Assert.Contains("too much is asked", Assert.Single(Told(late)), StringComparison.Ordinal);
        sessions[0].Ended("gone");
        Ask(late, 2);
        Assert.Empty(Told(late));
    }

    [Fact]
    public void Queries_OfMoreBytesThanThereMayBe_AreRefused()
    {
        ClientSession session = Opened();
        int fit = (int)(PendingQueries.BytesMax >> 20);
        for (ulong number = 1; number <= (ulong)fit + 1; number++) Feed(session, FrameType.Query, QueryOf(number, bytes: 1 << 20));
        Assert.Contains($"{fit + 1} NotNow", Assert.Single(Told(session)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("a gap", "P10.9")]
    [InlineData("too many", "P10.9")]
    [InlineData("before the hello", "P10.1")]
    [InlineData("a run", "P10.3")]
    public void Caller_ThatBreaksARule_IsClosed(string what, string section)
    {
        ClientSession session = what == "before the hello" ? _sessions.New(new LinkTransport(Seed, "remote")) : Opened();
        if (what == "too many")
            for (ulong number = 1; number <= 1024; number++) Ask(session, number);
        (FrameType type, byte[] payload) = what switch
        {
            "a gap" => (FrameType.Query, QueryOf(2)),
            "too many" => (FrameType.Query, QueryOf(1025)),
            "a run" => (FrameType.Run, Made.Run(MessageKind.Impulse, 1, 0, [Made.Raw(7, [1])])),
            _ => (FrameType.Query, QueryOf(1)),
        };
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() => Feed(session, type, payload)).Section);
    }

    [Theory]
    [InlineData("nobody asked")]
    [InlineData("twice")]
    [InlineData("too low")]
    [InlineData("beyond what was given")]
    [InlineData("not now")]
    public void App_ThatAnswersWrongly_BreaksTheProtocol(string how)
    {
        ClientSession session = Opened();
        Ask(session, 1, position: 4096);
        Given(4096);
        Action wrong = how switch
        {
            "nobody asked" => () => Answer(9, 4096),
            "twice" => () => { Answer(1, 4096); Answer(1, 4096); },
            "too low" => () => Answer(1, 4095),
            "beyond what was given" => () => Answer(1, 4097),
            _ => () => Answer(1, 4096, status: QueryStatus.NotNow),
        };
        Assert.Equal("P5.18", Assert.Throws<ProtocolViolation>(wrong).Section);
    }

    /// <summary>
    /// A replica that is not primary takes those who come for queries alone, and closes others without a word: the
    /// catalog says who is primary.
    /// </summary>
    [Fact]
    public void Secondary_TakesQueriesAlone()
    {
        _replica.IsPrimary = false;
        ClientSession session = Opened();
        Ask(session, 1);
        Assert.Single(Given(4096));
        Answer(1, 4096);
        Assert.Single(Told(session));
        var other = _sessions.New(new LinkTransport(Seed, "remote"));
        Assert.Equal(FeedResult.Close,
            Feed(other, FrameType.ClientHello, Made.Payload(new ClientHello(1, 1, new InstanceId("bank"), Guid.Empty, "web", 1 << 20))));
        Assert.Empty(Told(other));
    }

    /// <summary>A primary that was stopped says nothing until it has read the fence again.</summary>
    [Fact]
    public void Primary_ThatIsNotSureToBeOne_IsSilent()
    {
        ClientSession session = Opened();
        Ask(session, 1);
        Given(4096);
        Answer(1, 4096);
        _mayAnswer = false;
        Assert.Empty(Told(session));
        _mayAnswer = true;
        Assert.Single(Told(session));
    }

    [Fact]
    public void Session_ForEverything_AsksBothSorts()
    {
        ClientSession session = Opened(queriesOnly: false);
        Ask(session, 1, text: "q");
        Feed(session, FrameType.Run, Made.Run(MessageKind.ClientRequest, 1, 0, [Made.Raw(7, [1])]));
        _log.Commit();
        Assert.Equal(["ClientLogged"], Told(session));
        Assert.Empty(Told(session));
        Given(4096);
        Answer(1, 4096);
        Assert.Equal(["1 Value at 4096 a"], Told(session));
    }

    /// <summary>
    /// In front of an answer stands how far the app was when it made it, so that a query of any replica sees what the answer says.
    /// </summary>
    [Fact]
    public void Answers_StandBehindThePositionThatTheyRestOn()
    {
        ClientSession session = Opened(queriesOnly: false);
        Feed(session, FrameType.Run, Made.Run(MessageKind.ClientRequest, 1, 0, [Made.Raw(7, [1])]));
        _log.Commit();
        Lsn logged = Logged(session);
        _replica.DeliveredTo = logged + 1000;
        _sessions.Answer(RunView.ReadWhole(Made.Run(MessageKind.ClientAnswer, 1, _log.Epoch.Value, [Made.Raw(7, [1, 65])]), 1 << 20));
        Assert.True(session.TryTake(out ReadOnlyMemory<byte> bytes));
        List<(FrameType Type, byte[] Payload)> frames = Made.FramesOf(bytes.Span, Seed, checkPayload: true);
        Assert.Equal([FrameType.ClientLogged, FrameType.Run], frames.Select(static frame => frame.Type));
        Assert.Equal(_replica.DeliveredTo, ClientLogged.Read(frames[0].Payload).Position);
    }

    private static Lsn Logged(ClientSession session)
    {
        Assert.True(session.TryTake(out ReadOnlyMemory<byte> bytes));
        session.Taken(bytes.Length);
        return ClientLogged.Read(Assert.Single(Made.FramesOf(bytes.Span, Seed, checkPayload: true)).Payload).Position;
    }
}
