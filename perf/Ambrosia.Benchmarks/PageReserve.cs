using System.Threading.Channels;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol.Records;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// Room for a record of 16 bytes in the open page, its copy, and the leave (a compare-and-swap each way), against the same copy under a
/// lock and against handing the bytes over in a bounded channel. One thread, so what is compared is the cost without contention.
/// </summary>
[MemoryDiagnoser]
[InvocationCount(InvocationsOfAnIteration, unrollFactor: 1)]
public class PageReserve
{
    private const int Records = 16_384, RecordBytes = 16, InvocationsOfAnIteration = 8; // half of the page pool
    private const string MemoryFileSystem = "/dev/shm";

    private readonly string _directory = Directory.CreateDirectory(Path.Combine(
        Directory.Exists(MemoryFileSystem) ? MemoryFileSystem : Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}")).FullName;
    private readonly Lock _gate = new();
    private readonly byte[] _record = new byte[RecordBytes], _page = new byte[1 << 20];
    private readonly Channel<(long, long)> _channel = Channel.CreateBounded<(long, long)>(
        new BoundedChannelOptions(Records) { SingleReader = true });
    private LogWriter _writer = null!;
    private PrimaryLock _held = null!;

    [GlobalSetup]
    public void Setup()
    {
        var files = new PosixFileSystem();
        string log = Path.Combine(_directory, "log");
        InstanceIdentity identity = InstanceDirectory.Create(files, log, "bench", 0, Guid.NewGuid(), 1, "r0", ICrashPoints.None);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(files, log, identity, "r0", ICrashPoints.None);
        _held = claimed.PrimaryLock;
        _writer = TakeOver.Execute(new LogLocation(files, log, identity), claimed.Fence, "r0", new LogOptions(), TimeProvider.System)
            .Writer;
        new RecordHeader(RecordBytes - RecordHeader.Bytes, RecordKind.Run).Write(_record);
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        _writer.Dispose();
        _held.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    /// <summary>A quarter of a page each time; committed behind each iteration, which is not counted.</summary>
    [IterationCleanup(Target = nameof(ReserveCopyLeave))]
    public void Commit()
    {
        while (true)
        {
            CommitReadiness answer = _writer.Begin(out CommitGroup? group);
            if (answer == CommitReadiness.AwaitingSpace) _writer.PrepareSpace();
            if (answer is CommitReadiness.Nothing) return;
            if (group is null) continue;
            if (group.NeedsRotation) group.Rotate();
            group.Write();
            group.Flush();
            group.CheckFence();
            _writer.Complete(group);
        }
    }

    [Benchmark(OperationsPerInvoke = Records)]
    public void ReserveCopyLeave()
    {
        for (int i = 0; i < Records; i++)
        {
            if (!_writer.TryReserve(RecordBytes, out Reservation room)) throw new InvalidOperationException("no room");
            _record.AsSpan().CopyTo(room.Bytes);
            _writer.Leave(room);
        }
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Records)]
    public int LockAndCopy()
    {
        int end = 0;
        for (int i = 0; i < Records; i++)
        {
            lock (_gate)
            {
                _record.AsSpan().CopyTo(_page.AsSpan(end));
                end += RecordBytes;
            }
        }
        return end;
    }

    [Benchmark(OperationsPerInvoke = Records)]
    public long ChannelWriteAndRead()
    {
        long sum = 0;
        for (int i = 0; i < Records; i++)
        {
            if (!_channel.Writer.TryWrite((i, sum))) throw new InvalidOperationException("full");
        }
        while (_channel.Reader.TryRead(out (long, long) item)) sum += item.Item1;
        return sum;
    }
}
