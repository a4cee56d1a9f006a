using System.Buffers.Binary;
using Ambrosia.Protocol.Records;
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

    private readonly SessionRig _follower = new(ImmortalDefinition.Of<Waiters>()),
        _primary = new(ImmortalDefinition.Of<Waiters>(), isPrimary: true);
    private readonly byte[] _results = new byte[Count * RecordBytes], _fired = new byte[Count * (RecordHeader.Bytes + 16)];
    private byte[] _begin = [], _wait = [];
    private ulong _followerTasks, _primaryTasks, _timers;

    [GlobalSetup]
    public void Setup()
    {
        byte[] count = [0x19, Count >> 8, Count & 0xFF];
        _begin = SessionRig.RunFrame(BindingSteadyPath.Message("IWaiters", "Begin", count), 1);
        _wait = SessionRig.RunFrame(BindingSteadyPath.Message("IWaiters", "Wait", count), 1);
        for (int i = 0; i < Count; i++)
        {
            Span<byte> record = _results.AsSpan(i * RecordBytes, RecordBytes);
            new RecordHeader(BodyBytes, RecordKind.NondetResult).Write(record);
            record[^2] = 0x18; // 42
            record[^1] = 0x2A;
            Span<byte> timer = _fired.AsSpan(i * (RecordHeader.Bytes + 16), RecordHeader.Bytes + 16);
            new RecordHeader(16, RecordKind.TimerFired).Write(timer);
            BinaryPrimitives.WriteInt64LittleEndian(timer[16..], 1); // the rig's time
        }
    }

    /// <summary>A replica that follows, or replays.</summary>
    [Benchmark(OperationsPerInvoke = Count)]
    public void TaskByItsRecord() => Complete(_follower, _begin, _results, RecordBytes, ref _followerTasks);

    /// <summary>The primary, without the thread pool and the log.</summary>
    [Benchmark(OperationsPerInvoke = Count)]
    public void TaskWithItsBody() => Complete(_primary, _begin, _results, RecordBytes, ref _primaryTasks);

    [Benchmark(OperationsPerInvoke = Count)]
    public void DelayByItsRecord() => Complete(_follower, _wait, _fired, RecordHeader.Bytes + 16, ref _timers);

    private static void Complete(SessionRig rig, byte[] begins, byte[] records, int recordBytes, ref ulong numbers)
    {
        rig.Execute(begins);
        for (int i = 0; i < Count; i++)
            BinaryPrimitives.WriteUInt64LittleEndian(records.AsSpan(i * recordBytes + RecordHeader.Bytes), ++numbers);
        rig.Execute(SessionRig.Frame(records));
    }
}
