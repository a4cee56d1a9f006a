using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>The binding's share of one message on the steady path: nothing may be allocated for it.</summary>
[MemoryDiagnoser]
public class BindingSteadyPath
{
    private const int Messages = 4096;

    private readonly SessionRig _sink = new(ImmortalDefinition.Of<Sink>()), _fountain = new(ImmortalDefinition.Of<Fountain>());
    private byte[] _bytesRun = [], _numbersRun = [], _sprayRun = [];

    [GlobalSetup]
    public void Setup()
    {
        _bytesRun = SessionRig.RunFrame(Repeat(Message("ISink", "Bytes", new byte[16]), Messages), Messages);
        _numbersRun = SessionRig.RunFrame(Repeat(Message("ISink", "Numbers", [0x19, 0x03, 0xE8, 0x1A, 0x00, 0x0F, 0x42, 0x40]), Messages),
            Messages);
        _sprayRun = SessionRig.RunFrame(Message("IFountain", "Spray", [0x19, 0x10, 0x00]), 1);
    }

    internal static byte[] Message(string contract, string method, byte[] arguments)
    {
        byte[] id = new byte[Varint.BytesMax];
        int size = Varint.Write(id, MethodIds.Of(contract, method));
        return [(byte)(size + arguments.Length), .. id[..size], .. arguments];
    }

    internal static byte[] Repeat(byte[] message, int count) => [.. Enumerable.Repeat(message, count).SelectMany(static m => m)];

    [Benchmark(OperationsPerInvoke = Messages)]
    public void DispatchSpan() => _sink.Execute(_bytesRun);

    [Benchmark(OperationsPerInvoke = Messages)]
    public void DispatchNumbers() => _sink.Execute(_numbersRun);

    [Benchmark(OperationsPerInvoke = Messages, Baseline = true)]
    public void EncodeNumbers() => _fountain.Execute(_sprayRun);
}
