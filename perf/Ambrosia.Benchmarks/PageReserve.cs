using System.Threading.Channels;
using Ambrosia.Log;
using Ambrosia.Protocol;
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

    private readonly string directory = Directory.CreateDirectory(Path.Combine(
        Directory.Exists(MemoryFileSystem) ? MemoryFileSystem : Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}")).FullName;
    private readonly Lock gate = new();
    private readonly byte[] record = new byte[RecordBytes], page = new byte[1 << 20];
    private readonly Channel<(long, long)> channel = Channel.CreateBounded<(long, long)>(
        new BoundedChannelOptions(Records) { SingleReader = true });
    private LogWriter writer = null!;
    private PrimaryLock held = null!;

    [GlobalSetup]
    public void Setup()
    {
        var files = new PosixFileSystem();
        string log = Path.Combine(directory, "log");
        InstanceIdentity identity = InstanceDirectory.Create(files, log, "bench", 0, Guid.NewGuid(), 1, "r0", NoCrashPoints.Instance);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.Try(files, log, identity, "r0", NoCrashPoints.Instance);
        held = claimed.PrimaryLock;
        writer = TakeOver.Run(files, log, identity, claimed.Fence, "r0", new LogOptions(), TimeProvider.System, NoCrashPoints.Instance)
            .Writer;
        new RecordHeader(RecordBytes - RecordHeader.Bytes, RecordKind.Run).Write(record);
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        writer.Dispose();
        held.Dispose();
        Directory.Delete(directory, recursive: true);
    }

    /// <summary>A quarter of a page each time; committed behind each iteration, which is not counted.</summary>
    [IterationCleanup(Target = nameof(ReserveCopyLeave))]
    public void Commit()
    {
        while (true)
        {
            CommitAnswer answer = writer.Begin(out CommitGroup? group);
            if (answer == CommitAnswer.AwaitingSpace) writer.PrepareSpace();
            if (answer is CommitAnswer.Nothing) return;
            if (group is null) continue;
            if (group.NeedsRotation) group.Rotate();
            group.Write();
            group.Flush();
            group.CheckFence();
            writer.Complete(group);
        }
    }

    [Benchmark(OperationsPerInvoke = Records)]
    public void ReserveCopyLeave()
    {
        for (int i = 0; i < Records; i++)
        {
            if (!writer.TryReserve(RecordBytes, out Reservation room)) throw new InvalidOperationException("no room");
            record.AsSpan().CopyTo(room.Bytes);
            writer.Leave(room);
        }
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Records)]
    public int LockAndCopy()
    {
        int end = 0;
        for (int i = 0; i < Records; i++)
        {
            lock (gate)
            {
                record.AsSpan().CopyTo(page.AsSpan(end));
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
            if (!channel.Writer.TryWrite((i, sum))) throw new InvalidOperationException("full");
        }
        while (channel.Reader.TryRead(out (long, long) item)) sum += item.Item1;
        return sum;
    }
}
