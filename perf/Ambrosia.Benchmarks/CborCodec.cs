using System.Buffers;
using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;
using Reference = System.Formats.Cbor;

namespace Ambrosia.Benchmarks;

/// <summary>
/// One argument list of two numbers, a text, bytes and a flag: our codec beside System.Formats.Cbor, which is the baseline.
/// </summary>
[MemoryDiagnoser]
[GroupBenchmarksBy(BenchmarkDotNet.Configs.BenchmarkLogicalGroupRule.ByCategory)]
[CategoriesColumn]
public class CborCodec
{
    private const string Text = "an ordinary piece of text";

    private static readonly byte[] s_blob = new byte[16];

    private readonly byte[] _target = new byte[256];
    private byte[] _encoded = [];

    [GlobalSetup]
    public void Setup() => _encoded = _target[..Write()];

    [Benchmark, BenchmarkCategory("write")]
    public int Write()
    {
        var writer = new CborWriter(_target);
        writer.WriteInt64(-1000);
        writer.WriteUInt64(1_000_000);
        writer.WriteString(Text);
        writer.WriteBytes(s_blob);
        writer.WriteBoolean(true);
        return (int)writer.Written;
    }

    [Benchmark(Baseline = true), BenchmarkCategory("write")]
    public int WriteByFramework()
    {
        var writer = new Reference.CborWriter(Reference.CborConformanceMode.Canonical, allowMultipleRootLevelValues: true,
            initialCapacity: _target.Length);
        writer.WriteInt64(-1000);
        writer.WriteUInt64(1_000_000);
        writer.WriteTextString(Text);
        writer.WriteByteString(s_blob);
        writer.WriteBoolean(true);
        return writer.Encode(_target);
    }

    [Benchmark, BenchmarkCategory("read")]
    public long Read()
    {
        var reader = new CborReader(_encoded);
        long sum = reader.ReadInt64() + (long)reader.ReadUInt64();
        return sum + reader.ReadString().Length + reader.ReadBytes().Length + (reader.ReadBoolean() ? 1 : 0);
    }

    [Benchmark(Baseline = true), BenchmarkCategory("read")]
    public long ReadByFramework()
    {
        var reader = new Reference.CborReader(_encoded, Reference.CborConformanceMode.Canonical, allowMultipleRootLevelValues: true);
        long sum = reader.ReadInt64() + (long)reader.ReadUInt64();
        return sum + reader.ReadTextString().Length + reader.ReadDefiniteLengthByteString().Length + (reader.ReadBoolean() ? 1 : 0);
    }
}
