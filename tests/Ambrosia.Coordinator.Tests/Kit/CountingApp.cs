using System.Buffers.Binary;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// A deterministic app spoken by hand: FirstStart sends call 1 to itself; call n from itself sends call n to the peer and call n+1 to
/// itself. How its calls are cut into runs is random, so that no two executions send the same bytes.
/// </summary>
internal sealed class CountingApp
{
    private const uint PeerIndex = 0, SelfIndex = 1;
    private readonly Node _node;
    private readonly AppReader _reader;
    private readonly SimulatedRandom _random;
    private readonly ulong _last;
    private readonly List<byte> _heard = [], _said = [];
    private readonly List<byte[]> _toPeer = [];
    private AppWelcome? _welcome;
    private bool _isPrimary;
    private ReadAnswer _answer = ReadAnswer.More;

    /// <param name="build">It states this build, and what its methods execute; null: none.</param>
    public CountingApp(Node node, SimulatedRandom random, ulong last, SpokenBuild? build = null)
    {
        _node = node;
        _random = random;
        _last = last;
        Session = node.Parts.NewSession(static () => { });
        _reader = Session.NewReader();
        _said.AddRange(Made.Frame(new AppHello(1, 1, Node.Token, 1, 0, "test", "test", "", "", 0, 1) { Build = build?.Id }));
        if (build is not null) _said.AddRange(Made.Frame(FrameType.BuildMethods, build.Methods));
    }

    public AppSession Session { get; }

    /// <summary>Calls from itself that it has executed.</summary>
    public ulong Executed { get; private set; }

    /// <summary>Set: from this call on it does something else than it did before.</summary>
    public ulong? WrongFrom { get; set; }

    /// <summary>Set: it makes the call to itself behind this one twice.</summary>
    public ulong? DoublesAfter { get; set; }

    /// <summary>Set: from this call on its state is another, and its calls are the same.</summary>
    public ulong? WrongStateFrom { get; set; }

    /// <summary>Set: when it executes its first call it gives this answer to a caller outside.</summary>
    public byte? Answer { get; set; }

    public bool IsQuiet =>
        _said.Count == 0 && _heard.Count == 0 && _answer == ReadAnswer.More && Session is { IsPrimary: true, HasOutput: false };

    public void Ask() => _said.AddRange(Made.Frame(FrameType.CheckpointWanted, []));

    /// <summary>Sends the session's first impulse to the peer.</summary>
    public void Impulse() =>
        _said.AddRange(
            Made.Frame(FrameType.Run, Made.Run(MessageKind.Impulse, 1, 0, [Made.Message(MessageKind.Impulse, 1, 4)], peer: PeerIndex)));

    /// <summary>A fork to each of others, all in one go.</summary>
    public void SpeakTo(IReadOnlyList<InstanceId> others)
    {
        for (int i = 0; i < others.Count; i++)
        {
            _said.AddRange(Made.Frame(new DestinationFrame((uint)i + 10, others[i])));
            _said.AddRange(
                Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, 1, 4)], peer: (uint)i + 10)));
        }
        Speak(int.MaxValue);
    }

    public void Step()
    {
        if (_random.Chance(50)) Listen();
        else Speak(_random.Chance(50) ? int.MaxValue : _random.Next(1, 200));
    }

    /// <summary>
    /// kill -9: of what it wanted to say some bytes are in the socket, perhaps half a frame; the coordinator reads them to their end.
    /// </summary>
    public void Kill()
    {
        int inSocket = _random.Next(_said.Count + 1);
        _said.RemoveRange(inSocket, _said.Count - inSocket);
        while (_said.Count > 0 || _answer != ReadAnswer.More)
        {
            Speak(int.MaxValue);
            if (_answer == ReadAnswer.LogFull) _node.Commit();
        }
        Session.End("killed");
        _reader.Dispose();
    }

    private void Speak(int bytesMax)
    {
        if (_answer != ReadAnswer.More) { _answer = _reader.Continue(); return; }
        if (_said.Count == 0) return;
        Memory<byte> space = _reader.Space();
        int count = Math.Min(Math.Min(bytesMax, space.Length), _said.Count);
        _said.Take(count).ToArray().CopyTo(space);
        _said.RemoveRange(0, count);
        _answer = _reader.Received(count);
    }

    private void Listen()
    {
        if (!Session.TryTake(out ReadOnlyMemory<byte> bytes)) return;
        _heard.AddRange(bytes.Span);
        Session.Taken();
        byte[] all = [.. _heard];
        int at = 0;
        while (FrameReader.TryRead(all.AsSpan(at), 0, 1 << 26, checkPayload: false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            Hear(header.Type, payload);
            at += size;
        }
        _heard.RemoveRange(0, at);
    }

    private void Hear(FrameType type, ReadOnlySpan<byte> payload)
    {
        Assert.True(_welcome is not null || type == FrameType.AppWelcome, $"{type} before the welcome");
        switch (type)
        {
            case FrameType.AppWelcome:
                _welcome = AppWelcome.Read(payload);
                _said.AddRange(Made.Frame(new DestinationFrame(PeerIndex, OutboxBench.Peer)));
                _said.AddRange(Made.Frame(new DestinationFrame(SelfIndex, _welcome.Instance)));
                break;
            case FrameType.ImageChunk: Executed = BinaryPrimitives.ReadUInt64LittleEndian(payload); break;
            case FrameType.Deliver: Deliver(payload); break;
            case FrameType.BecomePrimary: _isPrimary = true;
                _said.AddRange(Made.Frame(new PrimaryReady(BecomePrimary.Read(payload).Position))); break;
        }
    }

    private void Deliver(ReadOnlySpan<byte> payload)
    {
        DeliverHeader header = DeliverHeader.Read(payload);
        var records = new RecordReader(payload[DeliverHeader.Bytes..], header.First);
        bool marked = header.Mark == Lsn.Zero;
        while (records.Next())
        {
            if (!marked && records.Lsn >= header.Mark) { Report(new ProcessedFrame(header.Mark)); marked = true; }
            switch (records.Kind)
            {
                case RecordKind.FirstStart: Emit(SelfIndex, 1); break;
                case RecordKind.Run: Execute(records.ReadRun()); break;
                case RecordKind.CheckpointMark when IsAsked(records.Read<CheckpointMarkRecord>()): Image(records.End); break;
            }
        }
        Report(new ProcessedFrame(records.End));
    }

    private bool IsAsked(CheckpointMarkRecord mark) => mark.Epoch >= _welcome!.Epoch && (!_isPrimary || mark.Replica == _welcome.Replica);

    private void Execute(RunView run)
    {
        Assert.Equal((0u, Executed + 1), (run.Header.Peer, run.Header.First));
        for (uint i = 0; i < run.Header.Count; i++)
        {
            Executed++;
            if (Executed == 1 && Answer is { } value)
                _said.AddRange(
                    Made.Frame(FrameType.Run, Made.Run(MessageKind.ClientAnswer, 1, 1, [Made.Raw(7, [.. Made.Varint(1), value])])));
            _toPeer.Add(PeerCall(Executed >= WrongFrom ? Executed + 1 : Executed));
            if (_random.Chance(40)) Flush();
            if (Executed < _last) Emit(SelfIndex, Executed + 1);
            if (Executed == DoublesAfter) Emit(SelfIndex, Executed + 1);
        }
    }

    public static byte[] PeerCall(ulong number) => Made.Message(MessageKind.Fork, number, (int)(number % 90));

    private void Emit(uint index, ulong number) =>
        _said.AddRange(
            Made.Frame(FrameType.Run,
                Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, number, (int)(number % 500))], peer: index)));

    private void Flush()
    {
        if (_toPeer.Count == 0) return;
        _said.AddRange(Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, _toPeer, peer: PeerIndex)));
        _toPeer.Clear();
    }

    private void Report(ProcessedFrame frame)
    {
        Flush();
        _said.AddRange(Made.Frame(frame));
    }

    private void Image(Lsn lsn)
    {
        Flush();
        byte[] image = new byte[Executed >= WrongStateFrom ? 9 : 8];
        BinaryPrimitives.WriteUInt64LittleEndian(image, Executed);
        _said.AddRange(Made.Frame(new ImageBegin(lsn, 0)));
        _said.AddRange(Made.Frame(FrameType.ImageChunk, image));
        _said.AddRange(Made.Frame(new ImageEnd((ulong)image.Length, ChannelHash.Append(0, image))));
    }
}
