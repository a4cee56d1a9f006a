using Ambrosia.Log;
using Ambrosia.Protocol;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// A page from its first record until it is durable, with files in memory: reserve, fill, seal, stamp, write, check, complete. Beside it
/// the checksum and the copy that it cannot do without.
/// </summary>
[MemoryDiagnoser]
[InvocationCount(Pages)]
public class PageSeal
{
    private const int Pages = 256;
    private const long PageBytes = 1 << 20;
    private const string MemoryFileSystem = "/dev/shm";

    private readonly string directory = Directory.CreateDirectory(Path.Combine(
        Directory.Exists(MemoryFileSystem) ? MemoryFileSystem : Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}")).FullName;
    private readonly PosixFileSystem files = new();
    private LogWriter writer = null!;
    private PrimaryLock held = null!;
    private byte[] record = [], copy = [];

    /// <summary>Of the one record in the page.</summary>
    [Params(256, 1_000_000)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        record = new byte[Bytes];
        new Random(1).NextBytes(record);
        new RecordHeader((uint)(Bytes - RecordHeader.Bytes), RecordKind.Run).Write(record);
        copy = new byte[Bytes];
    }

    /// <summary>A new log with room for every page of the iteration, so that making more is rare, and memory is bounded.</summary>
    [IterationSetup]
    public void Open()
    {
        string log = Path.Combine(directory, "log");
        InstanceIdentity identity = InstanceDirectory.Create(files, log, "bench", 0, Guid.NewGuid(), 1, "r0", NoCrashPoints.Instance);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.Try(files, log, identity, "r0", NoCrashPoints.Instance);
        held = claimed.PrimaryLock;
        var options = new LogOptions { ZeroWindowBytes = Pages * PageBytes, SegmentBytes = 2 * Pages * PageBytes };
        writer = TakeOver.Run(files, log, identity, claimed.Fence, "r0", options, TimeProvider.System, NoCrashPoints.Instance).Writer;
        while (writer.PrepareSpace()) { }
    }

    [IterationCleanup]
    public void Close()
    {
        writer.Dispose();
        held.Dispose();
        Directory.Delete(Path.Combine(directory, "log"), recursive: true);
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(directory, recursive: true);

    [Benchmark(Baseline = true)]
    public uint CopyAndChecksum()
    {
        record.AsSpan().CopyTo(copy);
        return Crc32C.Of(copy);
    }

    [Benchmark]
    public Lsn FillSealAndComplete()
    {
        if (!writer.TryReserve(Bytes, out Reservation room)) throw new InvalidOperationException("no room");
        record.AsSpan().CopyTo(room.Bytes);
        writer.Leave(room);
        CommitGroup? group;
        while (writer.Begin(out group) != CommitAnswer.Ready)
        {
            if (!writer.PrepareSpace()) throw new InvalidOperationException("nothing to commit");
        }
        if (group!.NeedsRotation) group.Rotate();
        for (int i = 0; i < group.PageCount; i++) group.Write(i);
        group.Flush();
        group.CheckFence();
        writer.Complete(group);
        return writer.Durable;
    }
}
