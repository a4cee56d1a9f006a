using Ambrosia.Coordinator;
using Ambrosia.Log;
using Ambrosia.Protocol;
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

    private readonly BlockPool pool = new();
    private byte[] stream = [], received = [];
    private AppReader reader = null!;
    private Counting sink = null!;
    private byte[][] buffers = [];

    /// <summary>Messages in one run.</summary>
    [Params(4096, 64, 1)]
    public int RunLength { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        const int destinations = 16;
        int runBytes = FrameHeader.Bytes + RunHeader.Bytes + (RunLength * MessageBytes);
        stream = new byte[Messages / RunLength * runBytes];
        for (int i = 0; i < Messages / RunLength; i++) WriteRun(stream.AsSpan(i * runBytes, runBytes), (uint)(i % destinations));
        received = new byte[stream.Length];
        sink = new Counting();
        reader = new AppReader(pool, sink);
        buffers = [.. Enumerable.Range(0, destinations).Select(static _ => new byte[Messages * MessageBytes])];
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
        sink.Messages = 0;
        for (int at = 0; at < stream.Length;)
        {
            Span<byte> space = reader.Space().Span;
            int piece = Math.Min(space.Length, stream.Length - at);
            stream.AsSpan(at, piece).CopyTo(space);
            at += piece;
            reader.Received(piece);
        }
        return sink.Messages == Messages ? sink.Messages : throw new InvalidOperationException($"{sink.Messages} messages");
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public long ByMessage()
    {
        Span<int> filled = stackalloc int[buffers.Length];
        long count = 0;
        stream.CopyTo(received, 0); // as from the socket: the other way copies once as well
        for (int at = 0; at < received.Length;)
        {
            FrameReader.TryRead(received.AsSpan(at), 0, 1 << 20, checkPayload: false, out _, out ReadOnlySpan<byte> payload, out int size);
            RunView run = RunView.Read(payload);
            uint destination = run.Header.Peer;
            var messages = new MessageReader(run);
            while (messages.Next())
            {
                messages.Whole.CopyTo(buffers[destination].AsSpan(filled[(int)destination]));
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
            Protocol.Messages.Check(run.Messages, run.Header.Count, 1 << 20);
            Messages += run.Header.Count;
            return ReadAnswer.More;
        }

        public ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload) => ReadAnswer.More;

        public void Pause(bool drained)
        {
        }
    }
}
