using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;
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

    private readonly string _directory = Directory.CreateDirectory(Path.Combine(
        Directory.Exists(MemoryFileSystem) ? MemoryFileSystem : Path.GetTempPath(), $"ambrosia-bench-{Environment.ProcessId}")).FullName;
    private readonly PosixFileSystem _files = new();
    private LogWriter _writer = null!;
    private PrimaryLock _held = null!;
    private byte[] _record = [], _copy = [];

    /// <summary>The one record in the page has so many bytes.</summary>
    [Params(256, 1_000_000)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _record = new byte[Bytes];
        new Random(1).NextBytes(_record);
        new RecordHeader((uint)(Bytes - RecordHeader.Bytes), RecordKind.Run).Write(_record);
        _copy = new byte[Bytes];
    }

    /// <summary>A new log with room for every page of the iteration, so that making more is rare, and memory is bounded.</summary>
    [IterationSetup]
    public void Open()
    {
        string log = Path.Combine(_directory, "log");
        InstanceIdentity identity = InstanceDirectory.Create(_files, log, "bench", 0, Guid.NewGuid(), 1, "r0", ICrashPoints.None);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_files, log, identity, "r0", ICrashPoints.None);
        _held = claimed.PrimaryLock;
        var options = new LogOptions { ZeroWindowBytes = Pages * PageBytes, SegmentBytes = 2 * Pages * PageBytes };
        _writer = TakeOver.Execute(new LogLocation(_files, log, identity), claimed.Fence, "r0", options, TimeProvider.System).Writer;
        while (_writer.PrepareSpace()) { }
    }

    [IterationCleanup]
    public void Close()
    {
        _writer.Dispose();
        _held.Dispose();
        Directory.Delete(Path.Combine(_directory, "log"), recursive: true);
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(_directory, recursive: true);

    [Benchmark(Baseline = true)]
    public uint CopyAndChecksum()
    {
        _record.AsSpan().CopyTo(_copy);
        return Crc32C.Of(_copy);
    }

    [Benchmark]
    public Lsn FillSealAndComplete()
    {
        if (!_writer.TryReserve(Bytes, out Reservation room)) throw new InvalidOperationException("no room");
        _record.AsSpan().CopyTo(room.Bytes);
        _writer.Leave(room);
        CommitGroup? group;
        while (_writer.Begin(out group) != CommitReadiness.Ready)
        {
            if (!_writer.PrepareSpace()) throw new InvalidOperationException("nothing to commit");
        }
        if (group!.NeedsRotation) group.Rotate();
        for (int i = 0; i < group.PageCount; i++) group.Write(i);
        group.Flush();
        group.CheckFence();
        _writer.Complete(group);
        return _writer.Durable;
    }
}
