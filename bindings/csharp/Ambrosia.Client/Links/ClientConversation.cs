using System.Buffers;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Client;

/// <summary>
/// One connection to an instance as its caller sees it (protocol P10): hello, welcome, then runs out and answers in. Owns the bytes under
/// way; the requests are the book's. Two threads of the connection; what they share is under one lock.
/// </summary>
internal sealed class ClientConversation : ILinkTraffic
{
    private enum Stage { SendHello, AwaitWelcome, Open }

    private readonly Lock gate = new();

    /// <summary>Null: a connection for queries alone.</summary>
    private readonly RequestBook? book;
    private readonly QueryDesk desk;
    private readonly QueryRoad road;
    private readonly ClientHello hello;
    private readonly uint seed;
    private readonly byte[] heartbeat;
    private readonly ArrayBufferWriter<byte> frame = new(), run = new();
    private Stage stage;
    private ClientWelcome? welcome;
    private int bytesWanted;

    internal ClientConversation(RequestBook? book, QueryDesk desk, ClientHello hello, uint seed)
    {
        this.book = book;
        this.desk = desk;
        road = book is null ? QueryRoad.Secondary : QueryRoad.Primary;
        this.hello = hello;
        this.seed = seed;
        Frames.Write(frame, FrameType.Heartbeat, [], seed, checkPayload: true);
        heartbeat = frame.WrittenSpan.ToArray();
    }

    /// <summary>The instance takes us. On the in thread.</summary>
    internal Action<ClientWelcome> Welcomed { get; init; } = static _ => { };

    /// <summary>What follows rests on the log up to here. On the in thread.</summary>
    internal Action<Lsn> Saw { get; init; } = static _ => { };

    /// <summary>It closes the connection in words. On the in thread.</summary>
    internal Action<Goodbye> ToldGoodbye { get; init; } = static _ => { };

    /// <summary>The connection is over, and the book knows. On its last thread.</summary>
    internal Action<string> Over { get; init; } = static _ => { };

    /// <summary>Wakes the connection's sender.</summary>
    internal Action Wake { get; init; } = static () => { };

    public int FrameBytesWanted => bytesWanted;

    public ReadOnlyMemory<byte> HeartbeatFrame { get { lock (gate) return stage == Stage.Open ? heartbeat : default; } }

    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        while (true)
        {
            uint payloadMax = stage == Stage.Open ? Frames.PayloadBytesMax(hello.MessageBytesMax) : Frames.ControlBytesMax;
            DecodeStatus status = FrameReader.TryRead(
                bytes[consumed..], seed, payloadMax, checkPayload: true, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok)
            {
                bytesWanted = bytes.Length - consumed >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
                return FeedAnswer.Continue;
            }
            FrameTypes.Check(header.Type, FrameSender.Acceptor);
            consumed += size;
            if (header.Type == FrameType.Goodbye)
            {
                ToldGoodbye(Goodbye.Read(payload));
                return FeedAnswer.Close;
            }
            Take(header.Type, payload);
        }
    }

    private void Take(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.ClientWelcome when stage == Stage.AwaitWelcome:
                Open(ClientWelcome.Read(payload));
                break;
            case FrameType.Run when stage == Stage.Open && book is not null:
                TakeAnswers(RunView.ReadWhole(payload, hello.MessageBytesMax));
                break;
            case FrameType.ClientLogged when stage == Stage.Open && book is not null:
                ClientLogged logged = ClientLogged.Read(payload);
                Saw(logged.Position);
                book.Logged(logged.Number, logged.Position);
                break;
            case FrameType.QueryAnswer when stage == Stage.Open:
                desk.Answered(road, QueryAnswerFrame.Read(payload, hello.MessageBytesMax));
                break;
            case FrameType.Heartbeat:
                Frames.ReadEmpty(type, payload);
                break;
            default: throw new ProtocolViolation("P2.4", $"{type} frame to a caller outside");
        }
        if (type is FrameType.ClientLogged or FrameType.Run or FrameType.QueryAnswer) Wake(); // what waited for its turn may go now
    }

    private void Open(ClientWelcome told)
    {
        if (told.Version != 1) throw new ProtocolViolation("P10.2", $"protocol version {told.Version}");
        book?.Connected();
        lock (gate)
        {
            welcome = told;
            stage = Stage.Open;
        }
        Welcomed(told);
        desk.Opened(road, Wake);
    }

    private void TakeAnswers(in RunView answers)
    {
        if (!answers.Header.IsClientAnswer) throw new ProtocolViolation("P3.2", $"{answers.Header.Kind} to a caller outside");
        if (answers.Header.ClientSession != welcome!.Session)
            throw new ProtocolViolation("P10.6", $"answers for session {answers.Header.ClientSession} on {welcome.Session}");
        var messages = new MessageReader(answers);
        while (messages.Next()) book!.Answered(messages.CallId, answers.Header.Kind == MessageKind.ClientFailure, messages.Arguments);
    }

    public void WaitForRoom(CancellationToken stop) => throw new InvalidOperationException("a caller outside always has room");

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        lock (gate)
        {
            frame.ResetWrittenCount();
            if (stage == Stage.SendHello)
            {
                Frames.Write(frame, hello, seed, checkPayload: true);
                stage = Stage.AwaitWelcome;
            }
            else if (stage == Stage.Open)
            {
                if (book is not null) WriteRun(book);
                desk.Take(road, welcome!.RequestsMax, welcome.MessageBytesMax, seed, frame);
            }
            bytes = frame.WrittenMemory;
            return bytes.Length > 0;
        }
    }

    private void WriteRun(RequestBook requests)
    {
        run.ResetWrittenCount();
        if (requests.TryTakeRun(welcome!.RequestsMax, welcome.MessageBytesMax, run))
            Frames.Write(frame, FrameType.Run, run.WrittenSpan, seed, checkPayload: true);
    }

    public void Taken(int bytes)
    {
    }

    public void Ended(string why)
    {
        if (stage == Stage.Open) desk.Lost(road, why);
        book?.Lost(why);
        Over(why);
    }
}
