using System.Buffers;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// The binding's share of one awaited call to another immortal: a handler makes it and is suspended, the record with its result resumes it.
/// Coordinator, log and sockets are not there; encoding and decoding are.
/// </summary>
[MemoryDiagnoser]
public class AwaitedCalls
{
    private const int Count = 16_384;

    private readonly SessionRig _rig = new(ImmortalDefinition.Of<Asker>());
    private byte[] _begin = [], _results = [];
    private ulong _made;

    [GlobalSetup]
    public void Setup()
    {
        byte[] count = [0x19, Count >> 8, Count & 0xFF];
        _begin = SessionRig.RunFrame(BindingSteadyPath.Message("IAsker", "Begin", count), 1);
    }

    /// <summary>Every call has an id of its own, so each round needs other results.</summary>
    [IterationSetup]
    public void MakeResults()
    {
        var messages = new ArrayBufferWriter<byte>();
        uint method = MethodIds.Of("IOracle", "Get");
        for (int i = 0; i < Count; i++)
        {
            Span<byte> to = messages.GetSpan(3 * Varint.BytesMax);
            ulong call = ++_made;
            int body = Varint.SizeOf(method) + Varint.SizeOf(call) + 1, at = Varint.Write(to, (ulong)body);
            at += Varint.Write(to[at..], method);
            at += Varint.Write(to[at..], call);
            to[at++] = 0x07;
            messages.Advance(at);
        }
        _results = SessionRig.RunFrame(messages.WrittenSpan.ToArray(), Count, MessageKind.Result);
    }

    [Benchmark(OperationsPerInvoke = Count)]
    public void SuspendedAndResumed()
    {
        _rig.Execute(_begin);
        _rig.Execute(_results);
    }
}
