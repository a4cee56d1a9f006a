using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Suspension.App;

/// <summary>
/// A session of an immortal, its coordinator and the one instance that it calls, in memory: nothing but what the test decides happens. The
/// called instance answers by the text of the question alone.
/// </summary>
internal sealed class Rig
{
    private const uint AskText = 2;
    private static readonly Guid s_uuid = new("6f1c0b1a-2f3e-4d5c-8b7a-9e0d1c2b3a4f");

    private readonly ImmortalSession _session;
    private readonly ArrayBufferWriter<byte> _image = new();
    private readonly SortedDictionary<ulong, (uint Method, string Text)> _pending = [];
    private ulong _lsn;

    public Rig(ImmortalDefinition definition, byte[]? restored, IEnumerable<string> pendingLines, ulong at)
    {
        _lsn = at;
        _session = new ImmortalSession(definition,
            new SessionOptions
            {
                Token = new byte[32], Log = Lines.Add, AcceptSource = Environment.GetEnvironmentVariable("AMBROSIA_ACCEPT_SOURCE") == "1"
            });
        foreach (string[] line in pendingLines.Select(static line => line.Split(' ', 3)))
            _pending.Add(ulong.Parse(line[0]), (uint.Parse(line[1]), line[2]));
        Send(
            new AppWelcome(1, new InstanceId("shapes"), "r0", s_uuid, new Epoch(3), 7, SizeLimits.MessageBytesMaxDefault, new Lsn(at),
                restored is not null));
        if (restored is null)
        {
            Deliver(RecordKinds.EncodeWhole(new FirstStartRecord(s_uuid, 5, 1, "shapes")));
            Deliver(RecordKinds.EncodeWhole(new PeerRecord(1, new InstanceId("oracle"), s_uuid, new Epoch(1))));
            return;
        }
        Send(new ImageBegin(new Lsn(at), 1));
        foreach (byte[] chunk in restored.Chunk(ImageChunk.BytesMax)) SendFrame(FrameType.ImageChunk, chunk);
        Send(new ImageEnd((ulong)restored.Length, ChannelHash.Append(0, restored)));
    }

    /// <summary>Messages of the app, one a line.</summary>
    public List<string> Said { get; } = [];

    /// <summary>Lines for the operator.</summary>
    public List<string> Lines { get; } = [];

    /// <summary>Why no image could be taken.</summary>
    public string? Void { get; private set; }

    public SessionEnd? End => _session.End;

    public ulong Lsn => _lsn;

    public IEnumerable<string> PendingLines => _pending.Select(static each => $"{each.Key} {each.Value.Method} {each.Value.Text}");

    public bool IsPending => _pending.Count > 0;

    public void Call(uint method, ulong call) => Deliver(Run(MessageKind.Call, 1, method, call, []));

    /// <summary>Answers the oldest question, or the newest.</summary>
    public void Answer(bool newest)
    {
        (ulong call, (uint method, string text)) = newest ? _pending.Last() : _pending.First();
        _pending.Remove(call);
        var body = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(body);
        bool fails = text.StartsWith("boom", StringComparison.Ordinal);
        int number = SHA256.HashData(Encoding.UTF8.GetBytes(text))[0] % 7;
        if (fails) new FailureInfo("Boom", text).Write(ref writer);
        else if (method == AskText) writer.WriteString($"<{text}>");
        else writer.WriteInt64(number);
        writer.Flush();
        Deliver(Run(fails ? MessageKind.Failure : MessageKind.Result, 1, method, call, body.WrittenSpan.ToArray()));
    }

    /// <summary>A checkpoint at the next record, whatever is suspended. Null: something cannot be written.</summary>
    public byte[]? Image()
    {
        _image.ResetWrittenCount();
        Deliver(RecordKinds.EncodeWhole(new CheckpointMarkRecord(new Epoch(3), 1, "r0")));
        return _image.WrittenCount == 0 ? null : _image.WrittenSpan.ToArray();
    }

    private void Deliver(byte[] record)
    {
        byte[] payload = new byte[DeliverHeader.Bytes + record.Length];
        new DeliverHeader(new Lsn(_lsn), 1000, Protocol.Lsn.Zero).Write(payload);
        record.CopyTo(payload, DeliverHeader.Bytes);
        _lsn += (ulong)record.Length;
        SendFrame(FrameType.Deliver, payload);
    }

    private static byte[] Run(MessageKind kind, uint origin, uint method, ulong call, byte[] arguments)
    {
        var body = new ArrayBufferWriter<byte>();
        body.Advance(Varint.Write(body.GetSpan(Varint.BytesMax), (ulong)(Varint.SizeOf(method) + Varint.SizeOf(call) + arguments.Length)));
        body.Advance(Varint.Write(body.GetSpan(Varint.BytesMax), method));
        body.Advance(Varint.Write(body.GetSpan(Varint.BytesMax), call));
        body.Write(arguments);
        byte[] record = new byte[RecordHeader.Bytes + RunHeader.Bytes + body.WrittenCount];
        new RecordHeader((uint)(record.Length - RecordHeader.Bytes), RecordKind.Run).Write(record);
        new RunHeader(kind, false, 0, origin, 1, 1, 0, 0).Write(record.AsSpan(RecordHeader.Bytes));
        body.WrittenSpan.CopyTo(record.AsSpan(RecordHeader.Bytes + RunHeader.Bytes));
        return record;
    }

    private void Send<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, payload, 0, false);
        Feed(frame.WrittenMemory);
    }

    private void SendFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, type, payload, 0, false);
        Feed(frame.WrittenMemory);
    }

    private void Feed(ReadOnlyMemory<byte> bytes)
    {
        _session.Feed(bytes);
        _session.InputDry();
        var output = new ArrayBufferWriter<byte>();
        while (_session.TryTakeOutput(out ReadOnlyMemory<byte> some))
        {
            output.Write(some.Span);
            _session.OutputTaken(some.Length);
        }
        ReadOnlySpan<byte> left = output.WrittenSpan;
        while (FrameReader.TryRead(left, 0, uint.MaxValue / 2, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            if (header.Type == FrameType.Run) Note(RunView.ReadWhole(payload, SizeLimits.MessageBytesMaxDefault));
            else if (header.Type == FrameType.ImageChunk) _image.Write(ImageChunk.Read(payload));
            else if (header.Type == FrameType.Waiting) Void = Waiting.Read(payload).Why;
            left = left[size..];
        }
    }

    private void Note(RunView run)
    {
        var messages = new MessageReader(run);
        while (messages.Next())
        {
            Said.Add($"{run.Header.Kind} {messages.Method} #{messages.CallId} {Convert.ToHexString(messages.Arguments)}");
            if (run.Header.Kind != MessageKind.Call) continue;
            var text = new CborReader(messages.Arguments);
            _pending.Add(messages.CallId, (messages.Method, text.ReadString()));
        }
    }
}
