using System.Buffers;
using Ambrosia.Client.Queries;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using CRA.Links;

namespace Ambrosia.Client.Connections;

/// <summary>
/// Speaks the client's side of the protocol on one connection (protocol P10): hello, welcome, then runs out and answers in. It owns the
/// bytes in flight; the requests belong to <see cref="InFlightRequests"/>. The two threads of the connection call it, and one lock guards
/// what they share.
/// </summary>
internal sealed class ClientConnection : ILinkTraffic
{
    private enum Stage { SendHello, AwaitWelcome, Open }

    private readonly RankedLock _gate = new(LockRank.ClientConnection);

    /// <summary>The requests to send; null on a connection for queries alone.</summary>
    private readonly InFlightRequests? _requests;
    private readonly QueryRouter _router;
    private readonly ClientHello _hello;
    private readonly uint _seed;

    /// <summary>The encoder of what is sent, guarded by the lock.</summary>
    private readonly RequestEncoder _output;
    private Stage _stage;
    private ClientWelcome? _welcome;
    private int _bytesWanted;

    internal ClientConnection(InFlightRequests? requests, QueryRouter router, ClientHello hello, uint seed)
    {
        _requests = requests;
        _router = router;
        _hello = hello;
        _seed = seed;
        _output = new RequestEncoder(seed);
    }

    /// <summary>The owner is told what happens on the connection; null when nobody wants to know.</summary>
    internal IConnectionOwner? Owner { get; init; }

    /// <summary>Wakes the sender of the connection.</summary>
    internal Action Wake { get; init; } = static () => { };

    private QueryTarget Target => _requests is null ? QueryTarget.Secondary : QueryTarget.Primary;

    public int FrameBytesWanted => _bytesWanted;

    public ReadOnlyMemory<byte> HeartbeatFrame { get { using (_gate.Enter()) return _stage == Stage.Open ? _output.Heartbeat : default; } }

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        while (true)
        {
            uint payloadMax = _stage == Stage.Open ? SizeLimits.PayloadBytesMax(_hello.MessageBytesMax) : SizeLimits.ControlBytesMax;
            DecodeStatus status = FrameReader.TryRead(
                bytes[consumed..], _seed, payloadMax, checkPayload: true, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok)
            {
                _bytesWanted = bytes.Length - consumed >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
                return FeedResult.Continue;
            }
            FrameTypes.Check(header.Type, FrameSender.Acceptor);
            consumed += size;
            if (header.Type == FrameType.Goodbye)
            {
                Owner?.ToldGoodbye(Goodbye.Read(payload));
                return FeedResult.Close;
            }
            Take(header.Type, payload);
        }
    }

    private void Take(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.ClientWelcome when _stage == Stage.AwaitWelcome:
                Open(ClientWelcome.Read(payload));
                break;
            case FrameType.Run when _stage == Stage.Open && _requests is not null:
                TakeAnswers(RunView.ReadWhole(payload, _hello.MessageBytesMax));
                break;
            case FrameType.ClientLogged when _stage == Stage.Open && _requests is not null:
                ClientLogged logged = ClientLogged.Read(payload);
                Owner?.Saw(logged.Position);
                _requests.Logged(logged.Number, logged.Position);
                break;
            case FrameType.QueryAnswer when _stage == Stage.Open:
                _router.Answered(Target, QueryAnswerFrame.Read(payload, _hello.MessageBytesMax));
                break;
            case FrameType.Heartbeat:
                FrameReader.ReadEmpty(type, payload);
                break;
            default: throw new ProtocolViolation("P2.4", $"{type} frame to a caller outside");
        }
        if (type is FrameType.ClientLogged or FrameType.Run or FrameType.QueryAnswer) Wake(); // what waited for its turn may go now
    }

    private void Open(ClientWelcome told)
    {
        if (told.Version != 1) throw new ProtocolViolation("P10.2", $"protocol version {told.Version}");
        _requests?.Connected();
        using (_gate.Enter())
        {
            _welcome = told;
            _stage = Stage.Open;
        }
        Owner?.Accepted(told);
        _router.Opened(Target, Wake);
    }

    private void TakeAnswers(in RunView answers)
    {
        if (!answers.Header.IsClientAnswer) throw new ProtocolViolation("P3.2", $"{answers.Header.Kind} to a caller outside");
        if (answers.Header.ClientSession != _welcome!.Session)
            throw new ProtocolViolation("P10.6", $"answers for session {answers.Header.ClientSession} on {_welcome.Session}");
        var messages = new MessageReader(answers);
        while (messages.Next()) _requests!.Answered(messages.CallId, answers.Header.Kind == MessageKind.ClientFailure, messages.Arguments);
    }

    public void WaitForRoom(CancellationToken stop) => throw new InvalidOperationException("a caller outside always has room");

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        using (_gate.Enter())
        {
            bytes = default;
            if (_stage == Stage.SendHello)
            {
                bytes = _output.WriteHello(_hello);
                _stage = Stage.AwaitWelcome;
            }
            else if (_stage == Stage.Open)
            {
                bytes = _output.WriteWaiting(_requests, _router, Target, _welcome!);
            }
            return bytes.Length > 0;
        }
    }

    public void Taken(int bytes)
    {
    }

    public void Ended(string why)
    {
        if (_stage == Stage.Open) _router.Lost(Target, why);
        _requests?.Lost(why);
        Owner?.Over(why);
    }
}

/// <summary>
/// An owner is told what happens on its <see cref="ClientConnection"/>. The thread that receives calls it; <see cref="Over"/> is called on
/// the connection's last thread.
/// </summary>
internal interface IConnectionOwner
{
    /// <summary>The instance has accepted us.</summary>
    void Accepted(ClientWelcome welcome);

    /// <summary>What follows rests on the log up to this position.</summary>
    void Saw(Lsn position);

    /// <summary>The instance closes the connection with a Goodbye.</summary>
    void ToldGoodbye(Goodbye goodbye);

    /// <summary>The connection is over, and its requests know.</summary>
    void Over(string why);
}

/// <summary>
/// Encodes what a client sends on one connection. It owns the buffers, which every send uses again: what a method returns is valid until
/// the next call. The lock of its <see cref="ClientConnection"/> guards it.
/// </summary>
internal sealed class RequestEncoder
{
    private readonly uint _seed;
    private readonly ArrayBufferWriter<byte> _frames = new(), _run = new();

    internal RequestEncoder(uint seed)
    {
        _seed = seed;
        FrameWriter.Write(_frames, FrameType.Heartbeat, [], seed, checkPayload: true);
        Heartbeat = _frames.WrittenSpan.ToArray();
    }

    internal ReadOnlyMemory<byte> Heartbeat { get; }

    internal ReadOnlyMemory<byte> WriteHello(ClientHello hello)
    {
        _frames.ResetWrittenCount();
        FrameWriter.Write(_frames, hello, _seed, checkPayload: true);
        return _frames.WrittenMemory;
    }

    /// <summary>Writes the next requests as a run and the next queries as frames, within the limits that the instance has told.</summary>
    internal ReadOnlyMemory<byte> WriteWaiting(
        InFlightRequests? requests, QueryRouter router, QueryTarget target, ClientWelcome limits)
    {
        _frames.ResetWrittenCount();
        if (requests is not null) WriteRun(requests, limits);
        router.Take(target, limits.RequestsMax, limits.MessageBytesMax, _seed, _frames);
        return _frames.WrittenMemory;
    }

    private void WriteRun(InFlightRequests requests, ClientWelcome limits)
    {
        _run.ResetWrittenCount();
        if (requests.TryTakeRun(limits.RequestsMax, limits.MessageBytesMax, _run))
            FrameWriter.Write(_frames, FrameType.Run, _run.WrittenSpan, _seed, checkPayload: true);
    }
}
