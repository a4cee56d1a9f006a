using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol.Records;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>
/// Reading a log with every check against reading the same files raw, 1 MiB at a time: what recovery, verify and followers cost. One
/// operation is <see cref="LogBytes"/> of log, so 256 ms is 1 GiB/s. The files are in the page cache in both cases.
/// </summary>
[MemoryDiagnoser]
public class LogReading
{
    private const long LogBytes = 256L << 20;

    private readonly string _directory = Directory.CreateTempSubdirectory("ambrosia-bench-").FullName;
    private readonly PosixFileSystem _files = new();
    private readonly byte[] _raw = GC.AllocateUninitializedArray<byte>(1 << 20, pinned: true);
    private InstanceIdentity _identity = null!;
    private LogChain _chain = null!;

    /// <summary>Of the pages: a busy log's, and one that commits every message.</summary>
    [Params(1 << 20, 64 << 10, 8 << 10)]
    public int PageBytes { get; set; }

    private string Log => Path.Combine(_directory, "sink");

    [GlobalSetup]
    public void Setup()
    {
        _identity = InstanceDirectory.Create(_files, Log, "sink", 0, Guid.NewGuid(), 1, "r0", ICrashPoints.None);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(_files, Log, _identity, "r0", ICrashPoints.None);
        PrimaryLog open = TakeOver.Execute(
            new LogLocation(_files, Log, _identity), claimed.Fence, "r0", new LogOptions { PageBytes = PageBytes, Pages = 64 },
            TimeProvider.System);
        byte[] body = new byte[Math.Min(4_000, PageBytes - 200)];
        new Random(1).NextBytes(body);
        while (open.Writer.Tail.Value < (ulong)LogBytes)
        {
            while (open.Writer.TryReserve(RecordHeader.Bytes + body.Length, out Reservation r))
            {
                new RecordHeader((uint)body.Length, RecordKind.Run).Write(r.Bytes);
                body.CopyTo(r.Bytes[RecordHeader.Bytes..]);
                open.Writer.Leave(r);
            }
            while (open.Writer.PrepareSpace()) { }
            Commit(open.Writer);
        }
        open.Writer.Dispose();
        _chain = LogChain.Load(_files, Log, _identity);
        if (Scan() < LogBytes) throw new InvalidOperationException("the log is not read to its end");
    }

    [GlobalCleanup]
    public void Cleanup() => Directory.Delete(_directory, recursive: true);

    [Benchmark(Baseline = true)]
    public long Raw()
    {
        long bytes = 0;
        foreach (LogSegment segment in _chain.Segments)
        {
            using IFile file = _files.Open(segment.Path, FileUse.Read);
            long offset = 0;
            for (int count; (count = file.Read(_raw, offset)) > 0; offset += count) { }
            bytes += offset;
        }
        return bytes;
    }

    [Benchmark]
    public long Scan()
    {
        using LogScan scan = LogScan.Open(_files, Log, _identity, _chain);
        while (scan.Next()) { }
        return scan.Verdict is ReadVerdict.CleanEnd whole ? (long)whole.End.Value : throw new InvalidOperationException($"{scan.Verdict}");
    }

    private static void Commit(LogWriter log)
    {
        while (log.Begin(out CommitGroup? group) == CommitReadiness.Ready)
        {
            if (group!.NeedsRotation) group.Rotate();
            for (int i = 0; i < group.PageCount; i++) group.Write(i);
            group.Flush();
            group.CheckFence();
            log.Complete(group);
        }
    }
}
