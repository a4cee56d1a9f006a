using System.Buffers.Binary;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// A deterministic app spoken by hand: FirstStart sends call 1 to itself; call n from itself sends call n to the peer and call n+1 to
/// itself. How its calls are cut into runs is random, so that no two executions send the same bytes.
/// </summary>
internal sealed class CountingApp
{
    private const uint PeerIndex = 0, SelfIndex = 1;
    private readonly Node node;
    private readonly AppReader reader;
    private readonly SimulatedRandom random;
    private readonly ulong last;
    private readonly List<byte> heard = [], said = [];
    private readonly List<byte[]> toPeer = [];
    private AppWelcome? welcome;
    private bool isPrimary;
    private ReadAnswer answer = ReadAnswer.More;

    public CountingApp(Node node, SimulatedRandom random, ulong last)
    {
        this.node = node;
        this.random = random;
        this.last = last;
        Session = node.Parts.NewSession(static () => { });
        reader = Session.NewReader();
        said.AddRange(Made.Frame(new AppHello(1, 1, Node.Token, 0, 0, "test", "test", "", "", 0, 1)));
    }

    public AppSession Session { get; }

    /// <summary>Calls from itself that it has executed.</summary>
    public ulong Executed { get; private set; }

    /// <summary>Set: from this call on it does something else than it did before.</summary>
    public ulong? WrongFrom { get; set; }

    public bool IsQuiet =>
        said.Count == 0 && heard.Count == 0 && answer == ReadAnswer.More && Session is { IsPrimary: true, HasOutput: false };

    public void Ask() => said.AddRange(Made.Frame(FrameType.CheckpointWanted, []));

    /// <summary>Sends the session's first impulse to the peer.</summary>
    public void Impulse() =>
        said.AddRange(
            Made.Frame(FrameType.Run, Made.Run(MessageKind.Impulse, 1, 0, [Made.Message(MessageKind.Impulse, 1, 4)], peer: PeerIndex)));

    /// <summary>A fork to each of others, all in one go.</summary>
    public void SpeakTo(IReadOnlyList<InstanceId> others)
    {
        for (int i = 0; i < others.Count; i++)
        {
            said.AddRange(Made.Frame(new DestinationFrame((uint)i + 10, others[i])));
            said.AddRange(
                Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, 1, 4)], peer: (uint)i + 10)));
        }
        Speak(int.MaxValue);
    }

    public void Step()
    {
        if (random.Chance(50)) Listen();
        else Speak(random.Chance(50) ? int.MaxValue : random.Next(1, 200));
    }

    /// <summary>
    /// kill -9: of what it wanted to say some bytes are in the socket, perhaps half a frame; the coordinator reads them to their end.
    /// </summary>
    public void Kill()
    {
        int inSocket = random.Next(said.Count + 1);
        said.RemoveRange(inSocket, said.Count - inSocket);
        while (said.Count > 0 || answer != ReadAnswer.More)
        {
            Speak(int.MaxValue);
            if (answer == ReadAnswer.LogFull) node.Commit();
        }
        Session.End("killed");
        reader.Dispose();
    }

    private void Speak(int bytesMax)
    {
        if (answer != ReadAnswer.More) { answer = reader.Continue(); return; }
        if (said.Count == 0) return;
        Memory<byte> space = reader.Space();
        int count = Math.Min(Math.Min(bytesMax, space.Length), said.Count);
        said.Take(count).ToArray().CopyTo(space);
        said.RemoveRange(0, count);
        answer = reader.Received(count);
    }

    private void Listen()
    {
        if (!Session.TryTake(out ReadOnlyMemory<byte> bytes)) return;
        heard.AddRange(bytes.Span);
        Session.Taken();
        byte[] all = [.. heard];
        int at = 0;
        while (FrameReader.TryRead(all.AsSpan(at), 0, 1 << 26, checkPayload: false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            Hear(header.Type, payload);
            at += size;
        }
        heard.RemoveRange(0, at);
    }

    private void Hear(FrameType type, ReadOnlySpan<byte> payload)
    {
        Assert.True(welcome is not null || type == FrameType.AppWelcome, $"{type} before the welcome");
        switch (type)
        {
            case FrameType.AppWelcome:
                welcome = AppWelcome.Read(payload);
                said.AddRange(Made.Frame(new DestinationFrame(PeerIndex, OutboxBench.Peer)));
                said.AddRange(Made.Frame(new DestinationFrame(SelfIndex, welcome.Instance)));
                break;
            case FrameType.ImageChunk: Executed = BinaryPrimitives.ReadUInt64LittleEndian(payload); break;
            case FrameType.Deliver: Deliver(payload); break;
            case FrameType.BecomePrimary: isPrimary = true;
                said.AddRange(Made.Frame(new PrimaryReady(BecomePrimary.Read(payload).Position))); break;
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

    private bool IsAsked(CheckpointMarkRecord mark) => mark.Epoch >= welcome!.Epoch && (!isPrimary || mark.Replica == welcome.Replica);

    private void Execute(RunView run)
    {
        Assert.Equal((0u, Executed + 1), (run.Header.Peer, run.Header.First));
        for (uint i = 0; i < run.Header.Count; i++)
        {
            Executed++;
            toPeer.Add(PeerCall(Executed >= WrongFrom ? Executed + 1 : Executed));
            if (random.Chance(40)) Flush();
            if (Executed < last) Emit(SelfIndex, Executed + 1);
        }
    }

    public static byte[] PeerCall(ulong number) => Made.Message(MessageKind.Fork, number, (int)(number % 90));

    private void Emit(uint index, ulong number) =>
        said.AddRange(
            Made.Frame(FrameType.Run,
                Made.Run(MessageKind.Fork, 0, 0, [Made.Message(MessageKind.Fork, number, (int)(number % 500))], peer: index)));

    private void Flush()
    {
        if (toPeer.Count == 0) return;
        said.AddRange(Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 0, 0, toPeer, peer: PeerIndex)));
        toPeer.Clear();
    }

    private void Report(ProcessedFrame frame)
    {
        Flush();
        said.AddRange(Made.Frame(frame));
    }

    private void Image(Lsn lsn)
    {
        Flush();
        byte[] image = new byte[8];
        BinaryPrimitives.WriteUInt64LittleEndian(image, Executed);
        said.AddRange(Made.Frame(new ImageBegin(lsn, 0)));
        said.AddRange(Made.Frame(FrameType.ImageChunk, image));
        said.AddRange(Made.Frame(new ImageEnd(8, ChannelHash.Append(0, image))));
    }
}
