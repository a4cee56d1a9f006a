using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// An app's stream of 4,096 small messages split by destination: by runs, which stay where they were received (what the coordinator does),
/// beside a copy of each message to its destination's buffer. Destinations take turns, so many of them make short runs.
/// </summary>
[MemoryDiagnoser]
public class RunSplitting
{
    private const int Messages = 4096, MessageBytes = 18;

    private readonly BlockPool _pool = new();
    private byte[] _stream = [], _received = [];
    private AppReader _reader = null!;
    private Counting _sink = null!;
    private byte[][] _buffers = [];

    /// <summary>Messages in one run.</summary>
    [Params(4096, 64, 1)]
    public int RunLength { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        const int destinations = 16;
        int runBytes = FrameHeader.Bytes + RunHeader.Bytes + (RunLength * MessageBytes);
        _stream = new byte[Messages / RunLength * runBytes];
        for (int i = 0; i < Messages / RunLength; i++) WriteRun(_stream.AsSpan(i * runBytes, runBytes), (uint)(i % destinations));
        _received = new byte[_stream.Length];
        _sink = new Counting();
        _reader = new AppReader(_pool, _sink);
        _buffers = [.. Enumerable.Range(0, destinations).Select(static _ => new byte[Messages * MessageBytes])];
    }

    private void WriteRun(Span<byte> to, uint destination)
    {
        Span<byte> messages = to[(FrameHeader.Bytes + RunHeader.Bytes)..];
        for (int i = 0; i < RunLength; i++) (messages[i * MessageBytes], messages[(i * MessageBytes) + 1]) = (MessageBytes - 1, 1);
        new RunHeader(MessageKind.Fork, false, 0, destination, 0, (uint)RunLength, 0, 0).Write(to[FrameHeader.Bytes..]);
        new FrameHeader((uint)(to.Length - FrameHeader.Bytes), FrameType.Run, 0).Write(to, 0);
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Messages)]
    public long ByRun()
    {
        _sink.Messages = 0;
        for (int at = 0; at < _stream.Length;)
        {
            Span<byte> space = _reader.Space().Span;
            int piece = Math.Min(space.Length, _stream.Length - at);
            _stream.AsSpan(at, piece).CopyTo(space);
            at += piece;
            _reader.Received(piece);
        }
        return _sink.Messages == Messages ? _sink.Messages : throw new InvalidOperationException($"{_sink.Messages} messages");
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public long ByMessage()
    {
        Span<int> filled = stackalloc int[_buffers.Length];
        long count = 0;
        _stream.CopyTo(_received, 0); // as from the socket: the other way copies once as well
        for (int at = 0; at < _received.Length;)
        {
            FrameReader.TryRead(_received.AsSpan(at), 0, 1 << 20, checkPayload: false, out _, out ReadOnlySpan<byte> payload, out int size);
            RunView run = RunView.Read(payload);
            uint destination = run.Header.Peer;
            var messages = new MessageReader(run);
            while (messages.Next())
            {
                messages.Whole.CopyTo(_buffers[destination].AsSpan(filled[(int)destination]));
                filled[(int)destination] += messages.Whole.Length;
                count++;
            }
            at += size;
        }
        return count == Messages ? count : throw new InvalidOperationException($"{count} messages");
    }

    /// <summary>Checks the messages' boundaries, as an outbox does, and keeps nothing.</summary>
    private sealed class Counting : IAppFrames
    {
        public long Messages { get; set; }

        public uint PayloadBytesMax => 1 << 20;

        public bool LogWaits => false;

        public bool IsStranger => false;

        public ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes)
        {
            MessageScanner.Check(run.Messages, run.Header.Count, 1 << 20);
            Messages += run.Header.Count;
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload) => ReadAnswer.More;

        public void Pause(bool drained)
        {
        }
    }
}
