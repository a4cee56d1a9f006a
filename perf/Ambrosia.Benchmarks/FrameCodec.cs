using System.Buffers;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// A frame written and read, with the payload's checksum (a link) and without (an app channel), beside the copy of its payload.
/// </summary>
[MemoryDiagnoser]
public class FrameCodec
{
    private const uint Seed = 7;

    private readonly ArrayBufferWriter<byte> _buffer = new(1 << 20);
    private byte[] _payload = [], _target = [], _linkFrame = [], _appFrame = [];

    [Params(64, 65536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _payload = new byte[Bytes];
        new Random(1).NextBytes(_payload);
        _target = new byte[Bytes];
        _linkFrame = Make(checkPayload: true);
        _appFrame = Make(checkPayload: false);
    }

    private byte[] Make(bool checkPayload)
    {
        var bytes = new ArrayBufferWriter<byte>();
        FrameWriter.Write(bytes, FrameType.Run, _payload, Seed, checkPayload);
        return bytes.WrittenSpan.ToArray();
    }

    [Benchmark(Baseline = true)]
    public void Copy() => _payload.AsSpan().CopyTo(_target);

    [Benchmark]
    public int WriteForLink() => Write(checkPayload: true);

    [Benchmark]
    public int WriteForApp() => Write(checkPayload: false);

    [Benchmark]
    public int ReadFromLink() => Read(_linkFrame, checkPayload: true);

    [Benchmark]
    public int ReadFromApp() => Read(_appFrame, checkPayload: false);

    private int Write(bool checkPayload)
    {
        _buffer.ResetWrittenCount();
        FrameWriter.Write(_buffer, FrameType.Run, _payload, Seed, checkPayload);
        return _buffer.WrittenCount;
    }

    private static int Read(byte[] frame, bool checkPayload)
    {
        DecodeStatus status = FrameReader.TryRead(frame, Seed, 1 << 20, checkPayload, out _, out ReadOnlySpan<byte> payload, out _);
        return status == DecodeStatus.Ok ? payload.Length : throw new InvalidOperationException("the frame is not whole");
    }
}
