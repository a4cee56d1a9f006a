using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>Images with suspended handlers, written and restored.</summary>
[MemoryDiagnoser]
public class SuspendedImages
{
    private const int RunMessages = 10_000;

    private readonly SessionRig _rig = new(ImmortalDefinition.Of<Asker>());
    private readonly byte[] _mark = SessionRig.RecordFrame(new CheckpointMarkRecord(new Epoch(1), 1, SessionRig.Replica));
    private byte[] _image = [];

    [Params(1_000, 100_000)]
    public int Handlers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        foreach (int[] some in Enumerable.Range(0, Handlers).Chunk(RunMessages))
        {
            var messages = new ArrayBufferWriter<byte>();
            foreach (int i in some) messages.Write(Ask(i));
            _rig.Execute(SessionRig.RunFrame(messages.WrittenSpan.ToArray(), (uint)some.Length));
        }
        _image = _rig.ExecuteForImage(_mark);
        if (_image.Length < Handlers * 20)
            throw new InvalidOperationException($"an image of {_image.Length} bytes holds no {Handlers} handlers");
        Console.WriteLine($"// {_image.Length} bytes, {(double)_image.Length / Handlers:F0} each");
    }

    private static byte[] Ask(int number)
    {
        byte[] argument = new byte[16];
        var writer = new CborWriter(argument);
        writer.WriteInt64(number);
        return BindingSteadyPath.Message("IAsker", "Ask", argument[..(int)writer.Written]);
    }

    [Benchmark]
    public void Save() => _rig.Execute(_mark);

    [Benchmark]
    public void Restore() => SessionRig.Restore(ImmortalDefinition.Of<Asker>(), _image);
}
