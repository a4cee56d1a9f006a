using System.Numerics;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Hashing;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// CRC-32C of bytes that are in the cache or are not, against the CRC instruction in one lane, and against a copy of the same bytes.
/// </summary>
public class Checksums
{
    private byte[] _source = [], _target = [];

    [Params(4_096, 65_536, 1 << 20)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _source = new byte[Bytes];
        _target = new byte[Bytes];
        new Random(1).NextBytes(_source);
        if (OneLane() != AsShipped()) throw new InvalidOperationException("the two ways disagree");
    }

    [Benchmark(Baseline = true)]
    public void Copy() => _source.AsSpan().CopyTo(_target);

    [Benchmark]
    public uint OneLane()
    {
        uint state = uint.MaxValue;
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(_source)) state = BitOperations.Crc32C(state, word);
        return ~state;
    }

    [Benchmark]
    public uint AsShipped() => Crc32C.Of(_source);
}
