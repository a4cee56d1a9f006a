using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// From a delivered frame of 4,096 messages to their handlers: the generated dispatch with the whole session around it, beside the same
/// walk with a switch written by hand and with a dictionary of delegates.
/// </summary>
[MemoryDiagnoser]
public class Dispatch
{
    private const int Messages = 4096;

    private delegate void Handler(ReadOnlySpan<byte> arguments);

    private static readonly uint bytesId = MethodIds.Of("ISink", "Bytes"), numbersId = MethodIds.Of("ISink", "Numbers");

    private readonly SessionRig rig = new(ImmortalDefinition.Of<Sink>());
    private readonly Dictionary<uint, Handler> handlers = [];
    private byte[] frame = [];
    private long total;

    [GlobalSetup]
    public void Setup()
    {
        byte[] numbers = BindingSteadyPath.Message("ISink", "Numbers", [0x19, 0x03, 0xE8, 0x1A, 0x00, 0x0F, 0x42, 0x40]);
        frame = SessionRig.RunFrame(BindingSteadyPath.Repeat(numbers, Messages), Messages);
        handlers[bytesId] = arguments => total += arguments.Length;
        handlers[numbersId] = Numbers;
    }

    private void Numbers(ReadOnlySpan<byte> arguments)
    {
        var reader = new CborReader(arguments);
        total += reader.ReadInt64() + reader.ReadInt64();
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Messages)]
    public long SwitchByHand()
    {
        MessageReader messages = Walk();
        while (messages.Next())
        {
            if (messages.Method == bytesId) total += messages.Arguments.Length;
            else if (messages.Method == numbersId) Numbers(messages.Arguments);
            else throw new MissingMethodException();
        }
        return total;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public long Delegates()
    {
        MessageReader messages = Walk();
        while (messages.Next()) handlers[messages.Method](messages.Arguments);
        return total;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public void Generated() => rig.Execute(frame);

    private MessageReader Walk()
    {
        var records = new RecordReader(frame.AsSpan(FrameHeader.Bytes + DeliverHeader.Bytes), Lsn.Zero);
        return records.Next() ? new MessageReader(RunView.Read(records.Body))
            : throw new InvalidOperationException("a frame without a record");
    }
}
