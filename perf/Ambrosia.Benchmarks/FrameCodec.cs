using System.Buffers;
using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// A frame written and read, with the payload's checksum (a link) and without (an app channel), beside the copy of its payload.
/// </summary>
[MemoryDiagnoser]
public class FrameCodec
{
    private const uint Seed = 7;

    private readonly ArrayBufferWriter<byte> buffer = new(1 << 20);
    private byte[] payload = [], target = [], linkFrame = [], appFrame = [];

    [Params(64, 65536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        payload = new byte[Bytes];
        new Random(1).NextBytes(payload);
        target = new byte[Bytes];
        linkFrame = Make(checkPayload: true);
        appFrame = Make(checkPayload: false);
    }

    private byte[] Make(bool checkPayload)
    {
        var bytes = new ArrayBufferWriter<byte>();
        Frames.Write(bytes, FrameType.Run, payload, Seed, checkPayload);
        return bytes.WrittenSpan.ToArray();
    }

    [Benchmark(Baseline = true)]
    public void Copy() => payload.AsSpan().CopyTo(target);

    [Benchmark]
    public int WriteForLink() => Write(checkPayload: true);

    [Benchmark]
    public int WriteForApp() => Write(checkPayload: false);

    [Benchmark]
    public int ReadFromLink() => Read(linkFrame, checkPayload: true);

    [Benchmark]
    public int ReadFromApp() => Read(appFrame, checkPayload: false);

    private int Write(bool checkPayload)
    {
        buffer.ResetWrittenCount();
        Frames.Write(buffer, FrameType.Run, payload, Seed, checkPayload);
        return buffer.WrittenCount;
    }

    private static int Read(byte[] frame, bool checkPayload)
    {
        DecodeStatus status = FrameReader.TryRead(frame, Seed, 1 << 20, checkPayload, out _, out ReadOnlySpan<byte> payload, out _);
        return status == DecodeStatus.Ok ? payload.Length : throw new InvalidOperationException("the frame is not whole");
    }
}
