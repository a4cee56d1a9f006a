using System.Buffers;
using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>Images with suspended handlers, written and restored.</summary>
[MemoryDiagnoser]
public class SuspendedImages
{
    private const int RunMessages = 10_000;

    private readonly SessionRig rig = new(ImmortalDefinition.Of<Asker>());
    private readonly byte[] mark = SessionRig.RecordFrame(new CheckpointMarkRecord(new Epoch(1), 1, SessionRig.Replica));
    private byte[] image = [];

    [Params(1_000, 100_000)]
    public int Handlers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        foreach (int[] some in Enumerable.Range(0, Handlers).Chunk(RunMessages))
        {
            var messages = new ArrayBufferWriter<byte>();
            foreach (int i in some) messages.Write(Ask(i));
            rig.Execute(SessionRig.RunFrame(messages.WrittenSpan.ToArray(), (uint)some.Length));
        }
        image = rig.ExecuteForImage(mark);
        if (image.Length < Handlers * 20)
            throw new InvalidOperationException($"an image of {image.Length} bytes holds no {Handlers} handlers");
        Console.WriteLine($"// {image.Length} bytes, {(double)image.Length / Handlers:F0} each");
    }

    private static byte[] Ask(int number)
    {
        byte[] argument = new byte[16];
        var writer = new CborWriter(argument);
        writer.WriteInt64(number);
        return BindingSteadyPath.Message("IAsker", "Ask", argument[..(int)writer.Written]);
    }

    [Benchmark]
    public void Save() => rig.Execute(mark);

    [Benchmark]
    public void Restore() => SessionRig.Restore(ImmortalDefinition.Of<Asker>(), image);
}
