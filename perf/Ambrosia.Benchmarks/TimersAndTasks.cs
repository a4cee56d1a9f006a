using System.Buffers.Binary;
using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// The binding's share of one timer or task: a handler begins it, is suspended, and is resumed by its record. In the primary the body runs,
/// too, on the same thread, and its result is reported; elsewhere it never runs.
/// </summary>
[MemoryDiagnoser]
public class TimersAndTasks
{
    private const int Count = 1024;
    private const int BodyBytes = sizeof(ulong) + 1 + 2, RecordBytes = RecordHeader.Bytes + BodyBytes;

    private readonly SessionRig follower = new(ImmortalDefinition.Of<Errands>()),
        primary = new(ImmortalDefinition.Of<Errands>(), isPrimary: true);
    private readonly byte[] results = new byte[Count * RecordBytes], fired = new byte[Count * (RecordHeader.Bytes + 16)];
    private byte[] begin = [], wait = [];
    private ulong followerTasks, primaryTasks, timers;

    [GlobalSetup]
    public void Setup()
    {
        byte[] count = [0x19, Count >> 8, Count & 0xFF];
        begin = SessionRig.RunFrame(BindingSteadyPath.Message("IErrands", "Begin", count), 1);
        wait = SessionRig.RunFrame(BindingSteadyPath.Message("IErrands", "Wait", count), 1);
        for (int i = 0; i < Count; i++)
        {
            Span<byte> record = results.AsSpan(i * RecordBytes, RecordBytes);
            new RecordHeader(BodyBytes, RecordKind.NondetResult).Write(record);
            record[^2] = 0x18; // 42
            record[^1] = 0x2A;
            Span<byte> timer = fired.AsSpan(i * (RecordHeader.Bytes + 16), RecordHeader.Bytes + 16);
            new RecordHeader(16, RecordKind.TimerFired).Write(timer);
            BinaryPrimitives.WriteInt64LittleEndian(timer[16..], 1); // the rig's time
        }
    }

    /// <summary>A replica that follows, or replays.</summary>
    [Benchmark(OperationsPerInvoke = Count)]
    public void TaskByItsRecord() => Complete(follower, begin, results, RecordBytes, ref followerTasks);

    /// <summary>The primary, without the thread pool and the log.</summary>
    [Benchmark(OperationsPerInvoke = Count)]
    public void TaskWithItsBody() => Complete(primary, begin, results, RecordBytes, ref primaryTasks);

    [Benchmark(OperationsPerInvoke = Count)]
    public void DelayByItsRecord() => Complete(follower, wait, fired, RecordHeader.Bytes + 16, ref timers);

    private static void Complete(SessionRig rig, byte[] begins, byte[] records, int recordBytes, ref ulong numbers)
    {
        rig.Execute(begins);
        for (int i = 0; i < Count; i++)
            BinaryPrimitives.WriteUInt64LittleEndian(records.AsSpan(i * recordBytes + RecordHeader.Bytes), ++numbers);
        rig.Execute(SessionRig.Frame(records));
    }
}
