using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// What a message costs the coordinator when it goes to one peer or to many: the app's stream with runs of 64 messages to each peer in
/// turn, through outboxes and links, acknowledged and trimmed. The aim: at 64 peers at most 1.2 times what it costs at one; 1,000 idle
/// peers beside the busy ones change nothing.
/// </summary>
[MemoryDiagnoser]
public class PeersSteadyPath
{
    private const int Runs = 64, RunMessages = 64, MessageBytes = 18;

    private readonly string _directory = Directory.CreateTempSubdirectory("ambrosia-bench-").FullName;
    private readonly BlockPool _pool = new();
    private byte[] _appFrames = [];
    private readonly byte[] _wire = new byte[1 << 20];
    private Outbox[] _outboxes = [];
    private SendCursor[] _links = [];
    private ulong[] _sent = [];
    private AppReader _reader = null!;

    [Params(1, 64)]
    public int Busy { get; set; }

    [Params(0, 1000)]
    public int Idle { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var scratch = new ScratchFile(new PosixFileSystem(), Path.Combine(_directory, "scratch"), 1 << 30);
        var set = new OutboxSet(new InstanceId("self"), scratch, new MemoryBudget(_pool, 64), TimeProvider.System);
        for (int i = 0; i < Idle; i++) set.Declare((uint)(Busy + i), new InstanceId($"idle-{i}"));
        for (int i = 0; i < Busy; i++) set.Declare((uint)i, new InstanceId($"busy-{i}"));
        _outboxes = [.. Enumerable.Range(0, Busy).Select(i => set.Declared((uint)i))];
        _links = [.. _outboxes.Select(static outbox => new SendCursor(outbox, 7, SizeLimits.MessageBytesMaxDefault))];
        _sent = new ulong[Busy];
        int frameBytes = FrameHeader.Bytes + RunHeader.Bytes + RunMessages * MessageBytes;
        _appFrames = new byte[Runs * frameBytes];
        for (int i = 0; i < Runs; i++) WriteFrame(_appFrames.AsSpan(i * frameBytes, frameBytes), (uint)(i % Busy));
        _reader = new AppReader(_pool, new ManyOutboxes(set));
    }

    private static void WriteFrame(Span<byte> frame, uint peer)
    {
        for (int i = 0; i < RunMessages; i++)
        {
            Span<byte> message = frame[(FrameHeader.Bytes + RunHeader.Bytes + i * MessageBytes)..];
            message[0] = MessageBytes - 1;
            message[1] = 1;
        }
        new RunHeader(MessageKind.Fork, false, 0, peer, 0, RunMessages, 0, 0).Write(frame[FrameHeader.Bytes..]);
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(frame, 0);
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(_directory, recursive: true);

    [Benchmark(OperationsPerInvoke = Runs * RunMessages)]
    public void Send()
    {
        for (int at = 0; at < _appFrames.Length;)
        {
            Span<byte> space = _reader.Space().Span;
            int piece = Math.Min(space.Length, _appFrames.Length - at);
            _appFrames.AsSpan(at, piece).CopyTo(space);
            at += piece;
            _reader.Received(piece);
        }
        for (int i = 0; i < _links.Length; i++)
        {
            while (_links[i].TryTake(out ReadOnlyMemory<byte> bytes))
            {
                bytes.Span.CopyTo(_wire);
                _links[i].Taken();
            }
            _sent[i] += (ulong)(Runs * RunMessages / _links.Length);
            _links[i].Acknowledged(_sent[i]);
            _outboxes[i].Trim(_sent[i]);
        }
    }

    private sealed class ManyOutboxes(OutboxSet set) : IAppFrames
    {
        public uint PayloadBytesMax => 1 << 20;

        public bool IsStranger => false;

        public bool LogWaits => false;

        public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
        {
            MessageScanner.Check(run.Messages, run.Header.Count, 1 << 20);
            set.Declared(run.Header.Peer).Append(block, frameAt, run, runBytes);
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload) => ReadAnswer.More;

        public void Pause(bool drained)
        {
        }
    }
}
