using System.Buffers;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// One connection of a caller outside (protocol P10): its hello, what it asks, what it is told. Owns the frames under way to it. Two
/// threads of the connection, that which reads the app's answers, and those that report durable inputs; what they share is under one lock.
/// Invariant: an answer is sent once, after its request is durable, to the session that asked.
/// </summary>
internal sealed class ClientSession : ILinkTraffic, ILinkFrames
{
    private enum Stage { AwaitHello, Open, Refused, Ended }

    private readonly Lock gate = new();
    private readonly ClientParts parts;
    private readonly string remote;
    private readonly FrameQueue frames;
    private readonly LinkFrames incoming;
    private readonly ReadOnlyMemory<byte> heartbeat;
    private Stage stage;
    private readonly ClientQueries queries = new();

    /// <summary>Null: a session for queries alone.</summary>
    private ClientRequests? requests;
    private ulong number;

    /// <summary>Longest answer that the caller takes.</summary>
    private uint answerBytesMax;
    private string client = "";
    private int bytesLeft, answersTaken, answersWaiting;

    /// <summary>The last message that was told as logged, and the position that went with it.</summary>
    private (ulong Number, Lsn Position) logged;

    public ClientSession(ClientParts parts, uint seed, string remote)
    {
        this.parts = parts;
        this.remote = remote;
        frames = new FrameQueue(seed, checkPayload: true);
        incoming = new LinkFrames(seed, FrameSender.Dialler, this, parts.WakeCommitter);
        heartbeat = LinkFrames.Heartbeat(seed);
    }

    /// <summary>Names that the other side's certificate is for; null: there are no certificates. Set by who runs the connection.</summary>
    public IReadOnlyList<string>? CertifiedNames { get; set; }

    /// <summary>Wakes the connection's sender; set by who runs the connection.</summary>
    public Action Wake { get; set; } = static () => { };

    /// <summary>Ends the connection from outside.</summary>
    public Action<string> Close { get; set; } = static _ => { };

    public ReadOnlyMemory<byte> HeartbeatFrame
    {
        get { lock (gate) return stage == Stage.Open && parts.MayAnswer() ? heartbeat : default; }
    }

    public int FrameBytesWanted => incoming.BytesWanted;

    // ---- in ----

    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed) => incoming.Feed(bytes, drained, out consumed);

    bool ILinkFrames.IsOver => stage == Stage.Refused;

    uint ILinkFrames.PayloadBytesMax => stage == Stage.Open ? parts.PayloadBytesMax : LinkParts.HelloBytesMax;

    void ILinkFrames.Broken(ProtocolViolation violation) => Say(PeerEvent.Violation, $"closed: {violation.Message}");

    FeedAnswer ILinkFrames.Take(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.ClientHello: TakeHello(ClientHello.Read(payload)); return FeedAnswer.Continue;
            case FrameType.Run: return TakeRun(payload);
            case FrameType.Query: TakeQuery(payload); return FeedAnswer.Continue;
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); return FeedAnswer.Continue;
            case FrameType.Goodbye: Goodbye.Read(payload); return FeedAnswer.Close;
            default: throw new ProtocolViolation("P2.4", $"{type} from a caller outside");
        }
    }

    private FeedAnswer TakeRun(ReadOnlySpan<byte> payload)
    {
        if (stage != Stage.Open) throw new ProtocolViolation("P10.1", "run before the hello");
        if (requests is null) throw new ProtocolViolation("P10.3", "run in a session for queries alone");
        bool isTaken = parts.Lag() <= ClientParts.LagBytesMax && requests.TryTake(RunView.ReadWhole(payload, parts.MessageBytesMax));
        return isTaken ? FeedAnswer.Continue : FeedAnswer.NoRoom;
    }

    private void TakeQuery(ReadOnlySpan<byte> payload)
    {
        if (stage != Stage.Open) throw new ProtocolViolation("P10.1", "query before the hello");
        QueryFrame query = QueryFrame.Read(payload, parts.MessageBytesMax);
        lock (gate) queries.Count(query.Query);
        Crash.Hit("query.beforeAsk");
        if (parts.Queries.TryAsk(this, query)) parts.WakeApp();
        else Answer(QueryAnswerFrame.NotNow(query.Query, parts.Log.Durable, "too much is asked of this replica at the moment"));
    }

    private void TakeHello(ClientHello hello)
    {
        if (stage != Stage.AwaitHello) throw new ProtocolViolation("P10.1", "second hello");
        if (!hello.QueriesOnly && !parts.IsPrimary())
        {
            lock (gate) stage = Stage.Refused; // without a word: it finds the primary in the catalog
            return;
        }
        string? wrong = parts.WhatIsWrong(hello, CertifiedNames);
        if (wrong is null && !parts.Table.TryAdd(this, out number))
            wrong = $"there are {ClientTable.SessionsMax} callers already; try again later";
        client = hello.Client;
        answerBytesMax = hello.MessageBytesMax;
        lock (gate)
        {
            if (wrong is null) Open(hello.QueriesOnly);
            else
            {
                stage = Stage.Refused;
                frames.Write(new Goodbye(GoodbyeCode.Refused, wrong));
            }
        }
        if (wrong is not null) Say(PeerEvent.Refused, $"refused: {wrong}");
        Wake();
    }

    private void Open(bool forQueries)
    {
        ClientSessionId id = forQueries ? default : new ClientSessionId(parts.Epoch(), number);
        if (!forQueries) requests = new ClientRequests(parts.Log, id);
        frames.Write(new ClientWelcome(1, parts.Uuid, parts.Replica, id, parts.MessageBytesMax, ClientParts.RequestsMax));
        stage = Stage.Open;
    }

    public void WaitForRoom(CancellationToken stop) => parts.Room(stop);

    // ---- out ----

    /// <summary>The log has advanced.</summary>
    public void DurableAdvanced()
    {
        if (requests is { HasUnlogged: true }) Wake();
    }

    /// <summary>The app has answered; what is not waited for is let go.</summary>
    public void Answer(in RunView run)
    {
        bool isFull = false, isTooLong;
        lock (gate)
        {
            if (stage != Stage.Open || requests is null || !requests.TryAnswer(run, out byte[]? answers)) return;
            // made under an earlier limit, and kept for its key
            isTooLong = answers.Length > answerBytesMax && Messages.Longest(answers.AsSpan(RunHeader.Bytes)) > answerBytesMax;
            isFull = frames.Waiting > ClientParts.AnswerBytesMax;
            if (!isFull && !isTooLong)
            {
                TellLogged();
                frames.Write(FrameType.Run, answers);
                answersWaiting++;
            }
        }
        if (isTooLong) Close($"an answer is longer than the {answerBytesMax} bytes that it takes (P10.6)");
        else if (isFull) Close("it does not take its answers (P10.6)");
        else Wake();
    }

    /// <summary>A query of this session has its answer.</summary>
    public void Answer(in QueryAnswerFrame answer)
    {
        bool isFull, isTooLong = answer.Answer.Length > answerBytesMax;
        lock (gate)
        {
            queries.Answered();
            if (stage != Stage.Open) return;
            isFull = frames.Waiting > ClientParts.AnswerBytesMax;
            if (!isFull && !isTooLong)
            {
                var payload = new ArrayBufferWriter<byte>(QueryAnswerFrame.HeadBytes + answer.Answer.Length);
                answer.Write(payload);
                frames.Write(FrameType.QueryAnswer, payload.WrittenSpan);
            }
        }
        if (isTooLong) Close($"an answer is longer than the {answerBytesMax} bytes that it takes (P10.9)");
        else if (isFull) Close("it does not take its answers (P10.9)");
        else Wake();
    }

    /// <summary>In front of answers: the caller may ask any replica for a state that holds what they say. Under the lock.</summary>
    private void TellLogged()
    {
        if (!requests!.TryTakeLogged(parts.Log.Durable, out ulong number, out Lsn end)) number = logged.Number;
        Lsn delivered = parts.Delivered(), position = Lsn.Max(delivered, end);
        if (number == logged.Number && position <= logged.Position) return;
        logged = (number, Lsn.Max(position, logged.Position));
        Crash.Hit("client.beforeLogged");
        frames.Write(new ClientLogged(logged.Number, logged.Position));
    }

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!parts.MayAnswer()) return false;
        lock (gate)
        {
            if (stage == Stage.Open && requests is { HasUnlogged: true } && requests.IsLogged(parts.Log.Durable)) TellLogged();
            if (!frames.TryTake(out bytes)) return false;
            (answersTaken, answersWaiting) = (answersWaiting, 0);
        }
        if (answersTaken > 0) Crash.Hit("client.beforeAnswer");
        bytesLeft = bytes.Length;
        return true;
    }

    public void Taken(int bytes)
    {
        bytesLeft -= bytes;
        if (bytesLeft == 0 && answersTaken > 0) Crash.Hit("client.afterAnswer");
    }

    /// <summary>Both threads of the connection have stopped.</summary>
    public void Ended(string why)
    {
        lock (gate) stage = Stage.Ended;
        parts.Queries.Forget(this);
        if (number > 0) parts.Table.Remove(number);
    }

    /// <summary>Under the instance's own name, so that callers who are refused again and again do not fill the operator's log.</summary>
    private void Say(PeerEvent happened, string what) =>
        parts.Lines.Say(parts.Self, client.Length > 0 ? $"caller {client} {remote}" : $"caller {remote}", happened, what);
}
