using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>A state of many small objects written as an image and restored from one, beside a copy of the image's bytes.</summary>
[MemoryDiagnoser]
public class StateImages
{
    private const int CborHeadBytesMax = 9;

    private readonly SessionRig rig = new(ImmortalDefinition.Of<Archive>());
    private readonly byte[] mark = SessionRig.RecordFrame(new CheckpointMarkRecord(new Epoch(1), 0, SessionRig.Replica));
    private byte[] image = [], copy = [];

    /// <summary>Objects of the state, each with a text, a number and a reference to the one before.</summary>
    [Params(1_000, 100_000)]
    public int Objects { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        byte[] fill = new byte[CborHeadBytesMax];
        var writer = new CborWriter(fill);
        writer.WriteInt64(Objects);
        rig.Execute(SessionRig.RunFrame(BindingSteadyPath.Message("IArchive", "Fill", fill[..(int)writer.Written]), 1));
        image = rig.ExecuteForImage(mark);
        copy = new byte[image.Length];
        Console.WriteLine($"// {image.Length} bytes, {(double)image.Length / Objects:F0} each");
        if (image.Length < Objects * 10)
            throw new InvalidOperationException($"an image of {image.Length} bytes holds no {Objects} objects");
    }

    [Benchmark(Baseline = true)]
    public void Copy() => image.AsSpan().CopyTo(copy);

    [Benchmark]
    public void Save() => rig.Execute(mark);

    [Benchmark]
    public void Restore() => SessionRig.Restore(ImmortalDefinition.Of<Archive>(), image);
}
