using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;
using CRA.Links;
using CRA.Streams;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// One connection of a caller outside (protocol P10): its hello, what it asks, what it is told. Two threads of the connection use it, that
/// which reads the app's answers, and those that report durable inputs; what they share is under one lock. Invariant: an answer is sent
/// once, after its request is durable, to the session that asked.
/// </summary>
internal sealed class ClientSession : ILinkTraffic, ILinkFrames
{
    /// <summary>Requests, and besides them queries, of one session that may be under way (protocol P10.4).</summary>
    public const uint RequestsMax = 1024;

    private enum Stage { AwaitHello, Open, Refused, Ended }

    private readonly RankedLock _gate = new(LockRank.ClientSession);
    private readonly LinkTransport _transport;
    private readonly ClientAdmission _admission;
    private readonly PendingQueries _pending;
    private readonly LinkFlow _flow;
    private readonly LinkFrames _incoming;
    private readonly ClientOutput _output;
    private readonly ClientQueries _queries = new();
    private Stage _stage;

    /// <summary>It is null before the hello, and in a session for queries alone.</summary>
    private ClientRequests? _requests;

    /// <summary>The session's number in the table; 0: it was not admitted.</summary>
    private ulong _number;
    private string _client = "";

    public ClientSession(
        LinkTransport transport, ClientAdmission admission, PendingQueries pending, LinkFlow flow, IClientReplica replica,
        SharedBytes answers)
    {
        _transport = transport;
        _admission = admission;
        _pending = pending;
        _flow = flow;
        _incoming = new LinkFrames(transport.Seed, FrameSender.Dialler, this, flow.WakeCommitter);
        _output = new ClientOutput(transport.Seed, replica, answers);
    }

    public ReadOnlyMemory<byte> HeartbeatFrame
    {
        get { using (_gate.Enter()) return _stage == Stage.Open && _flow.MayEmit ? _output.Heartbeat : default; }
    }

    public int FrameBytesWanted => _incoming.BytesWanted;

    // ---- in ----

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed) => _incoming.Feed(bytes, drained, out consumed);

    bool ILinkFrames.IsOver => _stage == Stage.Refused;

    uint ILinkFrames.PayloadBytesMax => _stage == Stage.Open ? _admission.PayloadBytesMax : LinkFrames.HelloBytesMax;

    void ILinkFrames.Broken(ProtocolViolation violation) =>
        _admission.Log(_client, _transport.Remote, PeerEvent.Violation, violation.Message);

    FeedResult ILinkFrames.Take(FrameType type, ReadOnlySpan<byte> payload, bool isAgain)
    {
        switch (type)
        {
            case FrameType.ClientHello: TakeHello(ClientHello.Read(payload)); return FeedResult.Continue;
            case FrameType.Run: return TakeRun(payload, isAgain);
            case FrameType.Query: TakeQuery(payload); return FeedResult.Continue;
            case FrameType.Heartbeat: FrameReader.ReadEmpty(type, payload); return FeedResult.Continue;
            case FrameType.Goodbye: Goodbye.Read(payload); return FeedResult.Close;
            default: throw new ProtocolViolation("P2.4", $"{type} from a caller outside");
        }
    }

    private FeedResult TakeRun(ReadOnlySpan<byte> payload, bool isAgain)
    {
        if (_stage != Stage.Open) throw new ProtocolViolation("P10.1", "run before the hello");
        if (_requests is null) throw new ProtocolViolation("P10.3", "run in a session for queries alone");
        RunView run = isAgain ? RunView.Read(payload) : RunView.ReadWhole(payload, _admission.MessageBytesMax);
        return _admission.HasRoom && _requests.TryTake(run) ? FeedResult.Continue : FeedResult.NoRoom;
    }

    private void TakeQuery(ReadOnlySpan<byte> payload)
    {
        if (_stage != Stage.Open) throw new ProtocolViolation("P10.1", "query before the hello");
        QueryFrame query = QueryFrame.Read(payload, _admission.MessageBytesMax);
        using (_gate.Enter()) _queries.Count(query.Query);
        Crash.Hit("query.beforeAsk");
        _pending.Ask(this, query);
    }

    private void TakeHello(ClientHello hello)
    {
        if (_stage != Stage.AwaitHello) throw new ProtocolViolation("P10.1", "second hello");
        if (!_admission.IsForUs(hello))
        {
            using (_gate.Enter()) _stage = Stage.Refused; // without a word: it finds the primary in the catalog
            return;
        }
        string? wrong = _admission.Admit(this, hello, _transport.CertifiedNames, out _number);
        _client = hello.Client;
        using (_gate.Enter())
        {
            _output.AnswerBytesMax = hello.MessageBytesMax;
            if (wrong is null) Open(hello.QueriesOnly);
            else
            {
                _stage = Stage.Refused;
                _output.Write(new Goodbye(GoodbyeCode.Refused, wrong));
            }
        }
        if (wrong is not null) _admission.Log(_client, _transport.Remote, PeerEvent.Refused, wrong);
        LockChecks.BeforeCallOut();
        _transport.Wake();
    }

    private void Open(bool forQueries)
    {
        _output.Write(_admission.Welcome(_number, forQueries, out _requests));
        _stage = Stage.Open;
    }

    public void WaitForRoom(CancellationToken stop) => _flow.WaitForRoom(stop);

    // ---- out ----

    /// <summary>The caller has not been told yet what became of messages that are logged.</summary>
    public bool OwesAnswers
    {
        get { using (_gate.Enter()) return _stage == Stage.Open && (_requests is { AreAwaited: true } || _output.IsUnsent); }
    }

    /// <summary>The log has advanced: the caller may be told that requests are durable.</summary>
    public void DurableAdvanced()
    {
        if (_requests is not { HasUnlogged: true }) return;
        LockChecks.BeforeCallOut();
        _transport.Wake();
    }

    /// <summary>The app has answered requests; an answer that is not waited for is dropped.</summary>
    public void Answer(in RunView run)
    {
        string? why;
        using (_gate.Enter())
        {
            if (_stage != Stage.Open || _requests is null || !_requests.TryAnswer(run, out byte[]? answers)) return;
            why = _output.WriteAnswers(answers, _requests);
        }
        WakeOrClose(why);
    }

    /// <summary>A query of this session has its answer.</summary>
    public void Answer(in QueryAnswerFrame answer)
    {
        string? why;
        using (_gate.Enter())
        {
            _queries.Answered();
            if (_stage != Stage.Open) return;
            why = _output.WriteAnswer(answer);
        }
        WakeOrClose(why);
    }

    private void WakeOrClose(string? why)
    {
        LockChecks.BeforeCallOut();
        if (why is null) _transport.Wake();
        else _transport.Close(why);
    }

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!_flow.MayEmit) return false;
        using (_gate.Enter())
        {
            if (_stage == Stage.Open && _requests is { IsLogged: true }) _output.WriteLogged(_requests);
            return _output.TryTake(out bytes);
        }
    }

    public void Taken(int bytes) => _output.Sent(bytes);

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        using (_gate.Enter())
        {
            _stage = Stage.Ended;
            _output.GiveBack();
        }
        _pending.Forget(this);
        if (_number > 0) _admission.Remove(_number);
    }
}

/// <summary>
/// Counts the queries of one session. It owns the number of the last one, and how many are under way: at most
/// <see cref="ClientSession.RequestsMax"/>. The session's lock guards it.
/// </summary>
internal sealed class ClientQueries
{
    private ulong _last;
    private uint _underWay;

    /// <exception cref="ProtocolViolation">P10.9.</exception>
    public void Count(ulong number)
    {
        if (number != _last + 1) throw new ProtocolViolation("P10.9", $"query {number} where {_last + 1} is next");
        if (_underWay == ClientSession.RequestsMax)
            throw new ProtocolViolation("P10.9", $"more than {ClientSession.RequestsMax} queries under way");
        _last = number;
        _underWay++;
    }

    public void Answered() => _underWay--;
}
