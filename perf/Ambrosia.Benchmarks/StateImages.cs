using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>A state of many small objects written as an image and restored from one, beside a copy of the image's bytes.</summary>
[MemoryDiagnoser]
public class StateImages
{
    private const int CborHeadBytesMax = 9;

    private readonly SessionRig _rig = new(ImmortalDefinition.Of<Archive>());
    private readonly byte[] _mark = SessionRig.RecordFrame(new CheckpointMarkRecord(new Epoch(1), 0, SessionRig.Replica));
    private byte[] _image = [], _copy = [];

    /// <summary>Objects of the state, each with a text, a number and a reference to the one before.</summary>
    [Params(1_000, 100_000)]
    public int Objects { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        byte[] fill = new byte[CborHeadBytesMax];
        var writer = new CborWriter(fill);
        writer.WriteInt64(Objects);
        _rig.Execute(SessionRig.RunFrame(BindingSteadyPath.Message("IArchive", "Fill", fill[..(int)writer.Written]), 1));
        _image = _rig.ExecuteForImage(_mark);
        _copy = new byte[_image.Length];
        Console.WriteLine($"// {_image.Length} bytes, {(double)_image.Length / Objects:F0} each");
        if (_image.Length < Objects * 10)
            throw new InvalidOperationException($"an image of {_image.Length} bytes holds no {Objects} objects");
    }

    [Benchmark(Baseline = true)]
    public void Copy() => _image.AsSpan().CopyTo(_copy);

    [Benchmark]
    public void Save() => _rig.Execute(_mark);

    [Benchmark]
    public void Restore() => SessionRig.Restore(ImmortalDefinition.Of<Archive>(), _image);
}
