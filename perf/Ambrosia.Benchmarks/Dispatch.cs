using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
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

    private static readonly uint s_bytesId = MethodIds.Of("ISink", "Bytes"), s_numbersId = MethodIds.Of("ISink", "Numbers");

    private readonly SessionRig _rig = new(ImmortalDefinition.Of<Sink>());
    private readonly Dictionary<uint, Handler> _handlers = [];
    private byte[] _frame = [];
    private long _total;

    [GlobalSetup]
    public void Setup()
    {
        byte[] numbers = BindingSteadyPath.Message("ISink", "Numbers", [0x19, 0x03, 0xE8, 0x1A, 0x00, 0x0F, 0x42, 0x40]);
        _frame = SessionRig.RunFrame(BindingSteadyPath.Repeat(numbers, Messages), Messages);
        _handlers[s_bytesId] = arguments => _total += arguments.Length;
        _handlers[s_numbersId] = Numbers;
    }

    private void Numbers(ReadOnlySpan<byte> arguments)
    {
        var reader = new CborReader(arguments);
        _total += reader.ReadInt64() + reader.ReadInt64();
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Messages)]
    public long SwitchByHand()
    {
        MessageReader messages = Walk();
        while (messages.Next())
        {
            if (messages.Method == s_bytesId) _total += messages.Arguments.Length;
            else if (messages.Method == s_numbersId) Numbers(messages.Arguments);
            else throw new MissingMethodException();
        }
        return _total;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public long Delegates()
    {
        MessageReader messages = Walk();
        while (messages.Next()) _handlers[messages.Method](messages.Arguments);
        return _total;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public void Generated() => _rig.Execute(_frame);

    private MessageReader Walk()
    {
        var records = new RecordReader(_frame.AsSpan(FrameHeader.Bytes + DeliverHeader.Bytes), Lsn.Zero);
        return records.Next() ? new MessageReader(RunView.Read(records.Body))
            : throw new InvalidOperationException("a frame without a record");
    }
}
