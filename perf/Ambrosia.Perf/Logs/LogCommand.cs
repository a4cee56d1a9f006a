using System.Diagnostics;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Perf;

/// <summary>
/// What <c>log</c> does: each figure in rounds, ours and the floor's in turn, on the same file system in the same minutes.
/// </summary>
internal sealed class LogCommand(ClusterOptions cluster, LogWriteMode mode)
{
    private const int MessageBytes = 16, MessagesOfARun = 4_096;
    private const long SegmentBytes = 128L << 20;

    /// <exception cref="FailedRoundException">A figure means nothing.</exception>
    public LogResult Run(int rounds, int appends, long streamBytes)
    {
        using var driver = new LogDriver(Path.Combine(cluster.Directory, "log"),
            new LogOptions { SegmentBytes = SegmentBytes, WriteMode = mode });
        bool isDirect = driver.Log.Chain.Segments[^1].IsDirect;
        LogFloor floor = new(cluster.Directory, isDirect ? "direct" : "buffered"), cached = new(cluster.Directory, "buffered"),
            cold = new(cluster.Directory, "cold");
        for (int i = 0; i < 12; i++) driver.AppendMany(BodyOf(1 << 20), 64); // every file of the log has been written once then
        IReadOnlyList<MemoryFigure> memory = new MemoryRounds(driver, rounds, cluster.Report).Run();
        var figures = new List<LogFigure>();
        foreach (int bytes in new[] { 4_096, 65_536, 1 << 20 })
        {
            int count = Math.Max(16, Math.Min(appends, (int)(SegmentBytes / 2 / bytes)));
            byte[] body = BodyOf(bytes);
            figures.Add(
                Pairs($"append {bytes}", (long)bytes * count, rounds, () => driver.AppendMany(body, count),
                    () => floor.Run("append", bytes, count)));
        }
        byte[] page = BodyOf(1 << 20);
        int pages = (int)(SegmentBytes / 2 >> 20);
        figures.Add(
            Pairs("append 1048576, filled meanwhile", (long)pages << 20, rounds, () => driver.Stream(page, (long)pages << 20),
                () => floor.Run("append", 1 << 20, pages)));
        byte[] run = RunOf16Bytes();
        double overhead =
            (double)(RecordHeader.Bytes + run.Length + PageHeader.Bytes * (double)run.Length / (1 << 20)) / (MessageBytes * MessagesOfARun);
        long payload = (long)(streamBytes / overhead);
        figures.Add(
            Pairs($"stream of {MessageBytes} B, payload", payload, rounds, () => driver.Stream(run, streamBytes),
                () => floor.Run("stream", 1 << 20, payload >> 20)));
        double measured = MeasureOverhead(driver, run, streamBytes);
        long kept = driver.ReadAll().Bytes;
        figures.Add(Pairs("read, page cache", kept, rounds, () => driver.ReadAll().Time, () => cached.Run("read", 1 << 20, kept >> 20)));
        figures.Add(Pairs("read, cold", kept, rounds, () => driver.ReadCold().Time, () => cold.Run("read", 1 << 20, kept >> 20)));
        return new LogResult(isDirect, measured, figures, memory);
    }

    private LogFigure Pairs(string what, long bytes, int rounds, Func<TimeSpan> ours, Func<TimeSpan> floor)
    {
        ours();
        floor();
        var own = new List<double>();
        var raw = new List<double>();
        for (int i = 0; i < rounds; i++)
        {
            cluster.Stop.ThrowIfCancellationRequested();
            own.Add(ours().TotalSeconds);
            raw.Add(floor().TotalSeconds);
        }
        var figure = new LogFigure(what, bytes, own, raw);
        cluster.Report($"{what}: {figure.OursGigabytesPerSecond:F3} GB/s, raw {figure.FloorGigabytesPerSecond:F3}, ratio {figure.Ratio:F2}");
        return figure;
    }

    /// <summary>File bytes for each byte of payload, as the log counts what it wrote.</summary>
    private static double MeasureOverhead(LogDriver driver, byte[] run, long bytes)
    {
        long before = driver.Writer.Metrics.FileBytes;
        Lsn from = driver.Writer.Tail;
        driver.Stream(run, bytes);
        // pages' headers and padding make it a little too many
        long records = (driver.Writer.Tail - from) / (RecordHeader.Bytes + run.Length);
        long written = driver.Writer.Metrics.FileBytes - before;
        double perRecord = (double)written / records;
        return perRecord / (MessageBytes * MessagesOfARun);
    }

    /// <summary>A record that fills a page of so many bytes.</summary>
    private static byte[] BodyOf(int pageBytes)
    {
        byte[] body = new byte[pageBytes - PageHeader.Bytes - RecordHeader.Bytes];
        new Random(pageBytes).NextBytes(body);
        return body;
    }

    /// <summary>A run as it comes from a link: header, and messages of 16 bytes with a length and a method id of a byte each.</summary>
    private static byte[] RunOf16Bytes()
    {
        byte[] run = new byte[RunHeader.Bytes + MessagesOfARun * (MessageBytes + 2)];
        new RunHeader(MessageKind.Fork, false, 0, 1, 1, MessagesOfARun, 0, 0).Write(run);
        for (int at = RunHeader.Bytes; at < run.Length; at += MessageBytes + 2) (run[at], run[at + 1]) = (MessageBytes + 1, 1);
        return run;
    }
}
