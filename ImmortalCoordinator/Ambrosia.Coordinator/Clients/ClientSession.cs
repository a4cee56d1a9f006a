using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// One connection of a caller outside (protocol P10): its hello, what it asks, what it is told. Owns the frames under way to it. Two threads
/// of the connection, that which reads the app's answers, and those that report durable inputs; what they share is under one lock.
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
    private ClientRequests? requests;
    private ulong number;

    /// <summary>Longest answer that the caller takes.</summary>
    private uint answerBytesMax;
    private string client = "";
    private int bytesLeft, answersTaken, answersWaiting;

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

    public ReadOnlyMemory<byte> HeartbeatFrame { get { lock (gate) return stage == Stage.Open && parts.MayEmit() ? heartbeat : default; } }

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
            case FrameType.Heartbeat: Frames.ReadEmpty(type, payload); return FeedAnswer.Continue;
            case FrameType.Goodbye: Goodbye.Read(payload); return FeedAnswer.Close;
            default: throw new ProtocolViolation("P2.4", $"{type} from a caller outside");
        }
    }

    private FeedAnswer TakeRun(ReadOnlySpan<byte> payload)
    {
        if (stage != Stage.Open) throw new ProtocolViolation("P10.1", "run before the hello");
        bool isTaken = parts.Lag() <= ClientParts.LagBytesMax && requests!.TryTake(RunView.ReadWhole(payload, parts.MessageBytesMax));
        return isTaken ? FeedAnswer.Continue : FeedAnswer.NoRoom;
    }

    private void TakeHello(ClientHello hello)
    {
        if (stage != Stage.AwaitHello) throw new ProtocolViolation("P10.1", "second hello");
        string? wrong = parts.WhatIsWrong(hello, CertifiedNames);
        if (wrong is null && !parts.Table.TryAdd(this, out number)) wrong = $"there are {ClientTable.SessionsMax} callers already; try again later";
        client = hello.Client;
        answerBytesMax = hello.MessageBytesMax;
        lock (gate)
        {
            if (wrong is null) Open();
            else
            {
                stage = Stage.Refused;
                frames.Write(new Goodbye(GoodbyeCode.Refused, wrong));
            }
        }
        if (wrong is not null) Say(PeerEvent.Refused, $"refused: {wrong}");
        Wake();
    }

    private void Open()
    {
        var id = new ClientSessionId(parts.Epoch(), number);
        requests = new ClientRequests(parts.Log, id);
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
            if (stage != Stage.Open || !requests!.TryAnswer(run, out byte[]? answers)) return;
            isTooLong = answers.Length > answerBytesMax && Messages.Longest(answers.AsSpan(RunHeader.Bytes)) > answerBytesMax; // made under an earlier limit, and kept for its key
            isFull = frames.Waiting > ClientParts.AnswerBytesMax;
            if (!isFull && !isTooLong)
            {
                frames.Write(FrameType.Run, answers);
                answersWaiting++;
            }
        }
        if (isTooLong) Close($"an answer is longer than the {answerBytesMax} bytes that it takes (P10.6)");
        else if (isFull) Close("it does not take its answers (P10.6)");
        else Wake();
    }

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (!parts.MayEmit()) return false;
        lock (gate)
        {
            if (stage == Stage.Open && requests!.TryTakeLogged(parts.Log.Durable, out ulong logged))
            {
                Crash.Hit("client.beforeLogged");
                frames.Write(new ClientLogged(logged));
            }
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
        if (number > 0) parts.Table.Remove(number);
    }

    /// <summary>Under the instance's own name, so that callers who are refused again and again do not fill the operator's log.</summary>
    private void Say(PeerEvent happened, string what) => parts.Lines.Say(parts.Self, client.Length > 0 ? $"caller {client} {remote}" : $"caller {remote}", happened, what);
}
