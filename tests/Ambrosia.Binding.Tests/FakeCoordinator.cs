// The coordinator's side of an app channel, by hand: frames in, and what comes out as one line each. Every session test reads like a
// conversation between the two.
using System.Buffers;
using System.Text.Json;
using Ambrosia.Impulses;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Session;

namespace Ambrosia.Binding.Tests;

internal sealed class FakeCoordinator
{
    internal static readonly Guid Uuid = new("0f0e0d0c-0b0a-0908-0706-050403020100");

    private readonly List<string> _destinations = [];
    private readonly ArrayBufferWriter<byte> _image = new();
    private readonly bool _byteByByte;
    private readonly ArrayBufferWriter<byte> _unread = new();
    private readonly List<byte> _pending = [];
    private readonly Lazy<ImmortalSession> _session;
    private ulong _lsn = 64;

    internal FakeCoordinator(
        ImmortalDefinition definition, string name = "bank1", bool byteByByte = false, Action<string>? log = null,
        bool logsDuringReplay = false)
    {
        _byteByByte = byteByByte;
        _session = new Lazy<ImmortalSession>(() => new ImmortalSession(definition, new SessionOptions
        {
            TaskRunner = Tasks, Time = new TickingClock(), QueryChecking = QueryChecking, StateChecking = StateChecking,
            Token = new byte[32], Log = log ?? Lines.Add,
            LogOfImmortal = (level, text) => Logged.Add($"{level} {text}"), LogsDuringReplay = logsDuringReplay,
            Former = Former, AppVersion = AppVersion ?? (Former is null ? 1u : 2u),
        }));
        Name = name;
    }

    internal ImmortalSession Session => _session.Value;

    /// <summary>Set before the session begins.</summary>
    internal QueryChecking? QueryChecking { get; init; }

    /// <summary>Set before the session begins.</summary>
    internal QueryChecking StateChecking { get; init; } = Ambrosia.QueryChecking.Never;

    /// <summary>The version before 2, which the app carries, too; null: it carries 1 alone. Set before the session begins.</summary>
    internal FormerVersion? Former { get; init; }

    /// <summary>The version that the app states; null: 2 with a former version, else 1. Set before the session begins.</summary>
    internal uint? AppVersion { get; init; }

    internal string Name { get; }

    /// <summary>What the app said, one line a frame or message.</summary>
    internal List<string> Said { get; } = [];

    internal List<string> Lines { get; } = [];

    /// <summary>Bodies of tasks that were started, until the test runs them.</summary>
    internal ManualRunner Tasks { get; } = new();

    /// <summary>What tasks reported.</summary>
    internal List<NondetResultRecord> Results { get; } = [];

    /// <summary>What the immortal wrote to its logger.</summary>
    internal List<string> Logged { get; } = [];

    /// <summary>What Welcome says of the instance.</summary>
    internal Guid InstanceUuid { get; init; } = Uuid;

    /// <summary>The extension blocks of the last run that had any.</summary>
    internal byte[] Extensions { get; private set; } = [];

    /// <summary>The last complete image.</summary>
    internal byte[] Image { get; private set; } = [];

    /// <summary>What the app answered to a conversion last.</summary>
    internal ConvertedFrame? Converted { get; private set; }

    /// <summary>What the app of a view has said of its handlers where it stopped last.</summary>
    internal IReadOnlyList<HandlerTime> Times { get; private set; } = [];

    /// <summary>Where the next record stands.</summary>
    internal Lsn Next => new(_lsn);

    internal static FakeCoordinator Started<T>(string name = "bank1", bool byteByByte = false)
        where T : Immortal, IImmortal<T>
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<T>(), name, byteByByte);
        coordinator.Welcome();
        coordinator.Deliver(FirstStart(name), Peer(1, "bank2"), Peer(2, "bank3"));
        coordinator.Said.Clear();
        return coordinator;
    }

    /// <summary>A session's inside without a session: for what writes and reads images by itself.</summary>
    internal static ImmortalRuntime NewRuntime<T>()
        where T : Immortal, IImmortal<T>
    {
        var outbound = new OutboundBuffer();
        var welcome = new AppWelcome(1, new InstanceId("bank1"), "r0", Uuid, new Epoch(3), 7, SizeLimits.MessageBytesMaxDefault,
            new Lsn(64), true);
        return new ImmortalRuntime(ImmortalDefinition.Of<T>(), welcome, outbound, new ImpulseIngress(new ImpulseOutbox(1 << 20), outbound),
            new SessionOptions { Token = new byte[32] });
    }

    internal T Immortal<T>()
        where T : Immortal => (T)Session.Immortal!;

    internal void Welcome(byte[]? withImage = null, ulong at = 64, uint messageBytesMax = SizeLimits.MessageBytesMaxDefault,
        bool isView = false, uint? runs = null, uint? converts = null)
    {
        _lsn = at;
        Send(
            new AppWelcome(1, new InstanceId(Name), "r0", InstanceUuid, new Epoch(3), 7, messageBytesMax, new Lsn(at),
                withImage is not null) { IsView = isView, RunsVersion = runs, ConvertsFrom = converts });
        if (withImage is null) return;
        Send(new ImageBegin(new Lsn(at), 1));
        foreach (byte[] chunk in withImage.Chunk(1000)) Send(FrameType.ImageChunk, chunk);
        Send(new ImageEnd((ulong)withImage.Length, ChannelHash.Append(0, withImage)));
    }

    internal static byte[] FirstStart(string name = "bank1") => RecordKinds.EncodeWhole(new FirstStartRecord(Uuid, 5, 1, name));

    internal static byte[] Peer(uint origin, string name) =>
        RecordKinds.EncodeWhole(new PeerRecord(origin, new InstanceId(name), Guid.NewGuid(), new Epoch(1)));

    internal static byte[] Mark(string replica = "r0", ulong epoch = 3, ulong bound = 0) =>
        RecordKinds.EncodeWhole(new CheckpointMarkRecord(new Epoch(epoch), bound, replica));

    internal static byte[] Fired(ulong timer, long dueUs) => RecordKinds.EncodeWhole(new TimerFiredRecord(timer, dueUs));

    internal static byte[] Gave(ulong task, params object?[] value) =>
        RecordKinds.EncodeWhole(new NondetResultRecord(task, false, Cbor.Of(value)));

    /// <summary>A run of messages of one kind: method, call id, arguments.</summary>
    internal static byte[] Run(MessageKind kind, uint origin, params (uint Method, ulong Call, byte[] Arguments)[] messages) =>
        RunWith([], kind, origin, messages);

    internal static byte[] RunWith(
        byte[] extensions, MessageKind kind, uint origin, params (uint Method, ulong Call, byte[] Arguments)[] messages)
    {
        var body = new ArrayBufferWriter<byte>();
        foreach ((uint method, ulong call, byte[] arguments) in messages) Append(body, kind, method, call, arguments);
        var record = new byte[RecordHeader.Bytes + RunHeader.Bytes + extensions.Length + body.WrittenCount];
        RecordKind of = kind == MessageKind.Impulse ? RecordKind.ImpulseRun : RecordKind.Run;
        new RecordHeader((uint)(record.Length - RecordHeader.Bytes), of).Write(record);
        new RunHeader(kind, false, 0, origin, 1, (uint)messages.Length, (uint)extensions.Length, 0)
            .Write(record.AsSpan(RecordHeader.Bytes));
        extensions.CopyTo(record, RecordHeader.Bytes + RunHeader.Bytes);
        body.WrittenSpan.CopyTo(record.AsSpan(RecordHeader.Bytes + RunHeader.Bytes + extensions.Length));
        return record;
    }

    internal static byte[] Fork(uint method, params object?[] arguments) => Run(MessageKind.Fork, 1, (method, 0, Cbor.Of(arguments)));

    internal static byte[] Call(uint method, ulong call, params object?[] arguments) =>
        Run(MessageKind.Call, 1, (method, call, Cbor.Of(arguments)));

    internal static byte[] Result(uint method, ulong call, uint origin, params object?[] value) =>
        Run(MessageKind.Result, origin, (method, call, Cbor.Of(value)));

    /// <summary>What a caller outside asks, in session (3, 1); request 0: an impulse.</summary>
    internal static byte[] Request(ulong request, string? key, uint method, params object?[] arguments)
    {
        byte[] content = Cbor.Of(arguments);
        byte[] keyBytes = key is null ? [] : [(byte)key.Length, .. System.Text.Encoding.UTF8.GetBytes(key)];
        var message = new ArrayBufferWriter<byte>();
        message.Advance(Varint.Write(message.GetSpan(Varint.BytesMax), (ulong)(Varint.SizeOf(method) + keyBytes.Length + content.Length)));
        message.Advance(Varint.Write(message.GetSpan(Varint.BytesMax), method));
        message.Write(keyBytes);
        message.Write(content);
        return RecordKinds.EncodeWhole(
            new ClientRequestRecord(new ClientSessionId(new Epoch(3), 1), request, key is not null, message.WrittenMemory));
    }

    internal void Deliver(params byte[][] records) => DeliverWith(0, 0, records);

    internal void DeliverWith(ulong mark, long timeUs, params byte[][] records)
    {
        var payload = new ArrayBufferWriter<byte>();
        new DeliverHeader(new Lsn(_lsn), timeUs, new Lsn(mark)).Write(payload.GetSpan(DeliverHeader.Bytes));
        payload.Advance(DeliverHeader.Bytes);
        foreach (byte[] record in records)
        {
            payload.Write(record);
            _lsn += (ulong)record.Length;
        }
        Send(FrameType.Deliver, payload.WrittenSpan);
    }

    /// <summary>The next record stands behind the padding of the page, at the beginning of the next one.</summary>
    internal void EndPage() => _lsn = (_lsn + 4095) / 4096 * 4096 + 64;

    internal void BecomePrimary() => Send(new BecomePrimary(new Lsn(_lsn)));

    internal void Send<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, payload, 0, false);
        Feed(frame.WrittenSpan);
    }

    internal void Send(FrameType type, ReadOnlySpan<byte> payload)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, type, payload, 0, false);
        Feed(frame.WrittenSpan);
    }

    internal void Feed(ReadOnlySpan<byte> bytes)
    {
        if (_byteByByte)
        {
            foreach (byte b in bytes)
            {
                _pending.Add(b);
                _pending.RemoveRange(0, Take());
            }
        }
        else
        {
            _pending.AddRange(bytes);
            _pending.RemoveRange(0, Take());
        }
        Session.InputDry();
        Listen();
    }

    /// <summary>
    /// Gives the session what has come, in a buffer that is filled anew as a socket would do it: nothing that the app keeps may show this.
    /// </summary>
    private int Take()
    {
        byte[] buffer = [.. _pending];
        int taken = Session.Feed(buffer);
        Array.Fill(buffer, (byte)'#');
        return taken;
    }

    /// <summary>Takes the app's output.</summary>
    internal void Listen()
    {
        while (Session.TryTakeOutput(out ReadOnlyMemory<byte> bytes))
        {
            // Taken in odd pieces: frames must not depend on how they are taken.
            int piece = Math.Min(bytes.Length, 13);
            _unread.Write(bytes.Span[..piece]);
            Session.OutputTaken(piece);
        }
        ReadOnlySpan<byte> left = _unread.WrittenSpan;
        while (FrameReader.TryRead(left, 0, uint.MaxValue / 2, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            FrameTypes.Check(header.Type, FrameSender.App);
            Note(header.Type, payload);
            left = left[size..];
        }
        byte[] rest = left.ToArray();
        _unread.ResetWrittenCount();
        _unread.Write(rest);
    }

    private void Note(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.Run:
                NoteRun(RunView.ReadWhole(payload, SizeLimits.MessageBytesMaxDefault));
                return;
            case FrameType.Destination:
                DestinationFrame destination = DestinationFrame.Read(payload);
                Assert.Equal((uint)_destinations.Count, destination.Index);
                _destinations.Add(destination.Destination.Name);
                Said.Add($"destination {destination.Destination}");
                return;
            case FrameType.ImageBegin:
                _image.ResetWrittenCount();
                Said.Add($"image at {ImageBegin.Read(payload).Position}");
                return;
            case FrameType.ImageChunk:
                _image.Write(ImageChunk.Read(payload));
                return;
            case FrameType.ImageEnd:
                ImageEnd end = ImageEnd.Read(payload);
                Assert.Equal((ulong)_image.WrittenCount, end.Length);
                Assert.Equal(ChannelHash.Append(0, _image.WrittenSpan), end.Hash);
                Image = _image.WrittenSpan.ToArray();
                return;
            default:
                Said.Add(type switch
                {
                    FrameType.SetAside => Line(SetAsideFrame.Read(payload)),
                    FrameType.QueryAnswer => Line(QueryAnswerFrame.Read(payload, SizeLimits.MessageBytesMaxDefault)),
                    FrameType.Released => $"released {ReleasedFrame.Read(payload).Message}",
                    FrameType.AppHello => $"hello {AppHello.Read(payload).ContractHash != 0}",
                    FrameType.Contract => $"contract {FirstContractOf(payload)}",
                    FrameType.Seen => Line(Seen.Read(payload)),
                    FrameType.Executing => $"executing {ExecutingFrame.Read(payload).Place}",
                    FrameType.Processed => $"processed {ProcessedFrame.Read(payload).Position}",
                    FrameType.PrimaryReady => $"primary at {PrimaryReady.Read(payload).Position}",
                    FrameType.TimerSet => $"timer {TimerSet.Read(payload).Timer} due {TimerSet.Read(payload).DueUs}",
                    FrameType.TimerDropped => $"timer {TimerDropped.Read(payload).Timer} dropped",
                    FrameType.TaskResult => Line(NondetResultRecord.Read(TaskResult.Read(payload, SizeLimits.MessageBytesMaxDefault))),
                    FrameType.Waiting => $"waiting for {Waiting.Read(payload).Mark}: {Waiting.Read(payload).Why}",
                    FrameType.Converted => Line(ConvertedFrame.Read(payload)),
                    FrameType.Goodbye => $"goodbye {Goodbye.Read(payload).Code}: {Goodbye.Read(payload).Why}",
                    _ => type.ToString(),
                });
                return;
        }
    }

    private string Line(ConvertedFrame converted)
    {
        Converted = converted;
        return converted.Why.Length > 0 ? $"cannot convert at {converted.Position}: {converted.Why}"
            : $"converted at {converted.Position} for {converted.Use}";
    }

    private string Line(Seen seen)
    {
        Times = seen.Times;
        return $"seen {seen.Place}";
    }

    private string Line(NondetResultRecord result)
    {
        Results.Add(result);
        return $"task {result.Task} {(result.Failed ? "failed" : "gave")} {Cbor.Text(result.Result.Span)}";
    }

    private static string Line(in QueryAnswerFrame answer) =>
        $"answer {answer.Query} {answer.Status.ToString().ToLowerInvariant()} at {answer.Position} {Cbor.Text(answer.Answer)}";

    private static string FirstContractOf(ReadOnlySpan<byte> manifest)
    {
        var reader = new Utf8JsonReader(ContractFrame.Read(manifest));
        using JsonDocument json = JsonDocument.ParseValue(ref reader);
        return json.RootElement.GetProperty("contracts")[0].GetProperty("name").GetString()!;
    }

    private static string Line(SetAsideFrame aside) =>
        $"set aside {aside.Message} as {aside.Decision}{(aside.IsUnlogged ? ", unlogged," : "")} of {aside.Caller}, {aside.Kind} {aside.Method}, {aside.ArgumentBytes} bytes, try {aside.Tries}: {aside.Why}";

    private void NoteRun(RunView run)
    {
        string to = run.Header.IsClientAnswer ? $"caller {run.Header.ClientSession}" : _destinations[(int)run.Header.Peer];
        Assert.True(run.Header.Kind == MessageKind.Impulse || run.Header.IsClientAnswer || run.Header.First == 0);
        if (!run.Extensions.IsEmpty) Extensions = run.Extensions.ToArray();
        var messages = new MessageReader(run);
        ulong ticket = run.Header.First;
        while (messages.Next())
        {
            string call = messages.CallId != 0 ? $" #{messages.CallId}" : "";
            string impulse = run.Header.Kind == MessageKind.Impulse ? $" ticket {ticket++}" : "";
            string key = run.Header.Keyed ? $" key {Convert.ToHexString(messages.Key)}" : "";
            string kind = run.Header.Kind.ToString().ToLowerInvariant();
            Said.Add($"{kind} {to} {messages.Method}{call}{impulse}{key} {Cbor.Text(messages.Arguments)}".TrimEnd());
        }
    }

    private static void Append(ArrayBufferWriter<byte> to, MessageKind kind, uint method, ulong call, byte[] arguments)
    {
        bool hasCall = kind is MessageKind.Call or MessageKind.Result or MessageKind.Failure;
        int length = Varint.SizeOf(method) + (hasCall ? Varint.SizeOf(call) : 0) + arguments.Length;
        to.Advance(Varint.Write(to.GetSpan(Varint.BytesMax), (ulong)length));
        to.Advance(Varint.Write(to.GetSpan(Varint.BytesMax), method));
        if (hasCall) to.Advance(Varint.Write(to.GetSpan(Varint.BytesMax), call));
        to.Write(arguments);
    }
}
