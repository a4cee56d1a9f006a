using System.Text;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A caller outside by hand, and the coordinator's side of its session over a real log: what is said when.</summary>
public sealed class ClientSessionTests : IDisposable
{
    private const uint Seed = 42;

    private readonly OpenedLog _log = new("bank");
    private readonly HandPumps _pumps = new();
    private readonly ClientSessions _sessions;
    private readonly ServedReplica _replica;
    private string? _closed;
    private bool _mayEmit = true;

    public ClientSessionTests()
    {
        var time = new FakeTime();
        _replica = new ServedReplica(_log.Epoch);
        _sessions = new ClientSessions(_log.InputsFor(_pumps, time), _log.Appender,
            new PendingQueries(time, () => _log.Appender.Durable, static () => { }), new PeerEventLog(_pumps.Logger, time), () => _mayEmit,
            _replica);
        _log.DurableAdvanced = _ => _sessions.DurableAdvanced();
    }

    public void Dispose() => _log.Dispose();

    private ClientSession New(IReadOnlyList<string>? certifiedNames = null) =>
        _sessions.New(new LinkTransport(Seed, "remote") { Close = why => _closed = why, CertifiedNames = certifiedNames });

    private ClientSession Opened()
    {
        ClientSession session = New();
        Feed(session, FrameType.ClientHello, HelloOf());
        Assert.Single(Taken(session));
        return session;
    }

    private byte[] HelloOf(
        string instance = "bank", Guid? uuid = null, uint limit = 1 << 20, ushort version = 1, string client = "web",
        bool queriesOnly = false) =>
            Made.Payload(new ClientHello(version, version, new InstanceId(instance), uuid ?? Guid.Empty, client, limit, queriesOnly));

    private static FeedResult Feed(ClientSession to, FrameType type, byte[] payload) =>
        to.Feed(Made.Frame(type, payload, Seed, checkPayload: true), drained: true, out _);

    private static byte[] RunOf(MessageKind kind, ulong first, params string[] texts) =>
        Made.Run(kind, first, 0, [.. texts.Select(static text => Made.Raw(7, Encoding.UTF8.GetBytes(text)))]);

    private static List<(FrameType Type, byte[] Payload)> Taken(ClientSession session)
    {
        if (!session.TryTake(out ReadOnlyMemory<byte> bytes)) return [];
        List<(FrameType, byte[])> frames = Made.FramesOf(bytes.Span, Seed, checkPayload: true);
        session.Taken(bytes.Length);
        return frames;
    }

    private static string[] Said(ClientSession session) => [.. Taken(session).Select(static frame => frame.Type switch
    {
        FrameType.ClientLogged => $"logged {ClientLogged.Read(frame.Payload).Number}",
        FrameType.Run => string.Join(" ", AnswersIn(RunView.Read(frame.Payload))),
        FrameType.Goodbye => $"goodbye {Goodbye.Read(frame.Payload).Why}",
        _ => frame.Type.ToString(),
    })];

    private static List<string> AnswersIn(RunView run)
    {
        var answers = new List<string>();
        var messages = new MessageReader(run);
        while (messages.Next()) answers.Add($"{run.Header.Kind} {messages.CallId} {Encoding.UTF8.GetString(messages.Arguments)}");
        return answers;
    }

    private void Answer(ulong session, MessageKind kind, ulong epoch, params (ulong Request, string Value)[] answers)
    {
        byte[] run = Made.Run(kind, session, epoch,
            [.. answers.Select(static each => Made.Raw(7, [.. Made.Varint(each.Request), .. Encoding.UTF8.GetBytes(each.Value)]))]);
        _sessions.Answer(RunView.ReadWhole(run, SizeLimits.MessageBytesMaxLimit));
    }

    [Fact]
    public void Hello_ByteByByte_IsWelcomed()
    {
        ClientSession session = New();
        Assert.True(session.HeartbeatFrame.IsEmpty);
        byte[] frame = Made.Frame(FrameType.ClientHello, HelloOf(), Seed, checkPayload: true);
        for (int i = 1; i < frame.Length; i++)
        {
            Assert.Equal(FeedResult.Continue, session.Feed(frame.AsSpan(0, i), true, out int early));
            Assert.Equal(0, early);
        }
        Assert.Equal(FeedResult.Continue, session.Feed(frame, true, out _));
        ClientWelcome welcome = ClientWelcome.Read(Assert.Single(Taken(session)).Payload);
        Assert.Equal((_log.Identity.Uuid, new ClientSessionId(_log.Epoch, 1), 1u << 20),
            (welcome.Uuid, welcome.Session, welcome.MessageBytesMax));
        Assert.False(session.HeartbeatFrame.IsEmpty);
    }

    [Theory]
    [InlineData("another instance", "we are bank")]
    [InlineData("another uuid", "deleted and made again")]
    [InlineData("a low limit", "takes answers of at most")]
    [InlineData("a version", "speaks protocol versions 2 to 2")]
    [InlineData("a certificate", "which its certificate is not for")]
    public void Hello_ThatIsWrong_IsRefusedWithTheReason(string what, string why)
    {
        ClientSession session = New(certifiedNames: what == "a certificate" ? ["other"] : null);
        byte[] hello = what switch
        {
            "another instance" => HelloOf("bonk"),
            "another uuid" => HelloOf(uuid: Guid.NewGuid()),
            "a low limit" => HelloOf(limit: (1 << 20) - 1),
            "a version" => HelloOf(version: 2),
            _ => HelloOf(),
        };
        Assert.Equal(FeedResult.Close, Feed(session, FrameType.ClientHello, hello));
        Assert.Contains(why, Assert.Single(Said(session)), StringComparison.Ordinal);
        Assert.Contains(why, Assert.Single(_pumps.Lines), StringComparison.Ordinal);
        Assert.Equal(0, _sessions.Table.Count);
    }

    [Fact]
    public void Hello_OneTooMany_IsRefusedUntilAnotherEnds()
    {
        ClientSession[] all = [.. Enumerable.Range(0, ClientTable.SessionsMax).Select(_ => Opened())];
        ClientSession late = New();
        Assert.Equal(FeedResult.Close, Feed(late, FrameType.ClientHello, HelloOf()));
        Assert.Contains("try again later", Assert.Single(Said(late)), StringComparison.Ordinal);
        late.Ended("over");
        all[7].Ended("over");
        Opened();
    }

    [Fact]
    public void Requests_AreLoggedInOrder_AndToldWhenDurable()
    {
        ClientSession session = Opened();
        Feed(session, FrameType.Run, RunOf(MessageKind.Impulse, 1, "a", "b"));
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, 3, "c"));
        Assert.Empty(Said(session)); // appended, not durable
        _log.Commit();
        Assert.Equal(["logged 3"], Said(session));
        Assert.Empty(Said(session));
        Assert.Equal([(0ul, "a"), (0ul, "b"), (3ul, "c")], Logged());
    }

    private List<(ulong, string)> Logged() => [.. _log.Records().Where(static r => r.Kind == RecordKind.ClientRequest).Select(static r =>
    {
        ClientRequestView request = ClientRequestView.Read(r.Body);
        return (request.Request, Encoding.UTF8.GetString(request.ReadMessage().Arguments));
    })];

    [Fact]
    public void Answers_AreSentOnce_ToTheSessionThatAsked()
    {
        ClientSession one = Opened(), two = Opened();
        Feed(one, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a", "b", "c"));
        Feed(two, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "d"));
        _log.Commit();
        Assert.Equal(["logged 3"], Said(one));
        Assert.Equal(["logged 1"], Said(two));

        Answer(1, MessageKind.ClientAnswer, _log.Epoch.Value, (2, "B"), (9, "nobody asked"), (1, "A"));
        Answer(1, MessageKind.ClientAnswer, _log.Epoch.Value, (2, "again"));
        Answer(1, MessageKind.ClientFailure, _log.Epoch.Value, (3, "C"));
        Answer(2, MessageKind.ClientAnswer, _log.Epoch.Value - 1, (1, "of an earlier epoch"));
        Answer(3, MessageKind.ClientAnswer, _log.Epoch.Value, (1, "of no session"));
        Assert.Equal(["ClientAnswer 2 B ClientAnswer 1 A", "ClientFailure 3 C"], Said(one));
        Assert.Empty(Said(two));
    }

    [Fact]
    public void Answers_WhileItIsNotSureThatWeArePrimary_Wait()
    {
        ClientSession session = Opened();
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a"));
        _log.Commit();
        _mayEmit = false;
        Answer(1, MessageKind.ClientAnswer, _log.Epoch.Value, (1, "A"));
        Assert.Empty(Said(session));
        _mayEmit = true;
        Assert.Equal(["logged 1", "ClientAnswer 1 A"], Said(session));
    }

    [Fact]
    public void Answers_ThatNobodyReads_EndTheSession()
    {
        ClientSession session = Opened();
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, [.. Enumerable.Repeat("a", 40)]));
        string megabyte = new('x', 1_000_000);
        for (ulong n = 1; n <= 40 && _closed is null; n++) Answer(1, MessageKind.ClientAnswer, _log.Epoch.Value, (n, megabyte));
        Assert.Contains("P10.6", _closed, StringComparison.Ordinal);
    }

    /// <summary>Kept for its key since a larger limit was in force: the caller would take it for a breach of the protocol.</summary>
    [Theory]
    [InlineData(1 << 20, true)]
    [InlineData(1_000_000, false)]
    public void Answer_LongerThanTheCallerTakes_EndsTheSession(int bytes, bool ends)
    {
        ClientSession session = Opened();
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a"));
        Answer(1, MessageKind.ClientAnswer, _log.Epoch.Value, (1, new string('x', bytes)));
        Assert.Equal(ends,
            _closed is not null && _closed.Contains("longer than the 1048576 bytes that it takes (P10.6)", StringComparison.Ordinal));
    }

    [Fact]
    public void Requests_WhileTheAppIsFarBehind_Wait()
    {
        ClientSession session = Opened();
        _replica.Lag = ClientAdmission.LagBytesMax + 1;
        byte[] frame = Made.Frame(FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a"), Seed, checkPayload: true);
        Assert.Equal(FeedResult.NoRoom, session.Feed(frame, true, out int consumed));
        Assert.Equal(0, consumed);
        _replica.Lag = 0;
        Assert.Equal(FeedResult.Continue, session.Feed(frame, true, out _));
        _log.Commit();
        Assert.Single(Logged());
    }

    /// <summary>The pages are full in the middle of a run: what was taken of it is not taken again.</summary>
    [Fact]
    public void Requests_MoreThanThePagesTake_AreEachLoggedOnce()
    {
        ClientSession session = Opened();
        string[] texts = [.. Enumerable.Range(0, 60).Select(static n => $"{n} {new string('x', 1000)}")];
        byte[] frame = Made.Frame(FrameType.Run, RunOf(MessageKind.ClientRequest, 1, texts), Seed, checkPayload: true);
        int waits = 0;
        for (; session.Feed(frame, true, out _) == FeedResult.NoRoom; waits++) _log.Commit();
        _log.Commit();
        Assert.NotEqual(0, waits);
        Assert.Equal(texts, Logged().Select(static each => each.Item2));
    }

    [Theory]
    [InlineData("gap", "P10.3")]
    [InlineData("repeated", "P10.3")]
    [InlineData("number 0", "P10.3")]
    [InlineData("fork", "P3.2")]
    [InlineData("answer", "P3.2")]
    [InlineData("peer", "P10.3")]
    [InlineData("too many", "P10.4")]
    [InlineData("second hello", "P10.1")]
    [InlineData("peer's hello", "P2.4")]
    public void Feed_WhatACallerMustNotSay_IsMalformed(string what, string section)
    {
        ClientSession session = Opened();
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a"));
        (FrameType type, byte[] payload) = what switch
        {
            "gap" => (FrameType.Run, RunOf(MessageKind.ClientRequest, 3, "a")),
            "repeated" => (FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a")),
            "number 0" => (FrameType.Run, RunOf(MessageKind.ClientRequest, 0, "a")),
            "fork" => (FrameType.Run, RunOf(MessageKind.Fork, 2, "a")),
            "answer" => (FrameType.Run, Made.Run(MessageKind.ClientAnswer, 2, 0, [Made.Raw(7, [1])])),
            "peer" => (FrameType.Run, Made.Run(MessageKind.ClientRequest, 2, 0, [Made.Raw(7, [1])], peer: 1)),
            "too many" => (FrameType.Run, RunOf(MessageKind.Impulse, 2, [.. Enumerable.Repeat("a", (int)ClientSession.RequestsMax)])),
            "second hello" => (FrameType.ClientHello, HelloOf()),
            _ => (FrameType.Ack, new byte[24]),
        };
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() => Feed(session, type, payload)).Section);
    }

    [Fact]
    public void Feed_RunBeforeTheHello_IsMalformed() =>
        Assert.Equal("P10.1",
            Assert.Throws<ProtocolViolation>(() => Feed(New(), FrameType.Run, RunOf(MessageKind.ClientRequest, 1, "a"))).Section);

    /// <summary>Impulses that are told as logged, and requests that are answered, make room for others.</summary>
    [Fact]
    public void Requests_AsManyAsMayBe_GoOnWhenSomeAreDone()
    {
        ClientSession session = Opened();
        uint half = ClientSession.RequestsMax / 2;
        Feed(session, FrameType.Run, RunOf(MessageKind.Impulse, 1, [.. Enumerable.Repeat("a", (int)half)]));
        _log.Commit();
        Feed(session, FrameType.Run, RunOf(MessageKind.ClientRequest, half + 1, [.. Enumerable.Repeat("b", (int)half)]));
        _log.Commit();
        Said(session);
        Feed(session, FrameType.Run, RunOf(MessageKind.Impulse, 2 * half + 1, [.. Enumerable.Repeat("c", (int)half)]));
        _log.Commit();
        Assert.Throws<ProtocolViolation>(() => Feed(session, FrameType.Run, RunOf(MessageKind.Impulse, 3 * half + 1, "d")));
    }

    [Fact]
    public void ArrivedLink_FirstFrame_SaysWhoIsThere()
    {
        using var side = new Side("bank");
        foreach (bool isCaller in new[] { true, false })
        {
            int callers = 0;
            ClientSession session = New();
            var arrived = new AcceptedConnection(side.Accept(Seed), () => { callers++; return session; });
            Assert.False(arrived.TryTake(out _));
            byte[] frame = isCaller ? Made.Frame(FrameType.ClientHello, HelloOf(), Seed, checkPayload: true)
                : Made.Frame(FrameType.Ack, new byte[24], Seed, checkPayload: true);
            Assert.Equal(FeedResult.Continue, arrived.Feed(frame.AsSpan(0, FrameHeader.Bytes - 1), true, out _));
            Exception? refused = Record.Exception(() => arrived.Feed(frame, true, out _));
            Assert.Equal((isCaller ? 1 : 0, isCaller), (callers, refused is null));
            Assert.Equal(isCaller, arrived.TryTake(out _));
            arrived.Ended("over");
        }
        Assert.Equal(0, _sessions.Table.Count);
    }
}
