// What a log does in memory, without the disk: room for a record in the open page, against the same copy under a lock and against a bounded
// channel of as many bytes; and checksums, against a copy. What hands the records on behind that (a commit, a reader of the
// channel) is not counted.
using System.Diagnostics;
using System.Threading.Channels;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Perf;

/// <summary>The figures of <c>log</c> that need no disk: all ways of one take turns.</summary>
internal sealed class MemoryRounds(LogDriver driver, int rounds, Action<string> say)
{
    private const int RecordBytes = 16, Records = 1 << 17; // 2 MiB: half of the pages that writers always get
    private const int CheckedBytes = 64 << 20;

    private readonly byte[] _record = new byte[RecordBytes], _page = new byte[Records * RecordBytes];
    private readonly Lock _gate = new();
    private readonly Channel<(long, long)> _channel = Channel.CreateBounded<(long, long)>(
        new BoundedChannelOptions(Records) { SingleReader = true });
    private int _end;

    /// <summary>Nobody else appends to the log or commits meanwhile.</summary>
    public IReadOnlyList<MemoryFigure> Run()
    {
        new RecordHeader(RecordBytes - RecordHeader.Bytes, RecordKind.Run).Write(_record);
        return [.. new[] { 1, 2 }.Select(Reserving), .. new[] { 4_096, 65_536, 1 << 20 }.Select(Checking)];
    }

    private MemoryFigure Reserving(int writers) => Turns($"{RecordBytes} bytes from {writers} writers", writers, Records, "ns",
        ("page", () => Together(writers, Append, driver.CommitAll)),
        ("lock", () => Together(writers, CopyLocked, static () => { })),
        ("channel", () => Together(writers, WriteToChannel, Drain)));

    private MemoryFigure Checking(int bytes)
    {
        byte[] source = new byte[bytes], target = new byte[bytes];
        new Random(bytes).NextBytes(source);
        int times = CheckedBytes / bytes;
        return Turns($"checksum of {bytes}", bytes, CheckedBytes, "ns a byte",
            ("CRC-32C", () => Timed(times, () => Crc32C.Of(source))),
            ("copy", () => Timed(times, () => source.CopyTo(target.AsSpan()))));
    }

    private MemoryFigure Turns(string what, int x, long units, string unit, params ReadOnlySpan<(string Name, Func<TimeSpan> Run)> ways)
    {
        var seconds = new List<double>[ways.Length];
        for (int i = 0; i < ways.Length; i++) seconds[i] = [];
        for (int round = -1; round < rounds; round++) // the first one warms up
        {
            for (int i = 0; i < ways.Length; i++)
            {
                double took = ways[i].Run().TotalSeconds;
                if (round >= 0) seconds[i].Add(took);
            }
        }
        var found = new List<MemoryWay>();
        for (int i = 0; i < ways.Length; i++) found.Add(new MemoryWay(ways[i].Name, seconds[i]));
        var figure = new MemoryFigure(what, x, units, found);
        say($"{what}: {string.Join(", ", found.Select(way => FormattableString.Invariant($"{way.Name} {figure.NanosecondsOf(way):F3} {unit}")))}");
        return figure;
    }

    private static TimeSpan Timed(int times, Action work)
    {
        long begun = Stopwatch.GetTimestamp();
        for (int i = 0; i < times; i++) work();
        return Stopwatch.GetElapsedTime(begun);
    }

    /// <summary>
    /// All records, by so many threads at once: from the first that begins, which this thread may be too late to
    /// see, to the last that ends.
    /// </summary>
    /// <exception cref="FailedRoundException">One of them could not.</exception>
    private static TimeSpan Together(int writers, Action<int> write, Action afterwards)
    {
        using var start = new Barrier(writers);
        var begun = new long[writers];
        var ended = new long[writers];
        FailedRoundException? failure = null;
        Thread[] threads = [.. Enumerable.Range(0, writers).Select(i => new Thread(() =>
        {
            start.SignalAndWait();
            begun[i] = Stopwatch.GetTimestamp();
            try
            {
                write(Records / writers);
            }
            catch (FailedRoundException e)
            {
                failure = e;
            }
            ended[i] = Stopwatch.GetTimestamp();
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        afterwards();
        return failure is null ? Stopwatch.GetElapsedTime(begun.Min(), ended.Max()) : throw failure;
    }

    private void Append(int count)
    {
        for (int i = 0; i < count; i++)
        {
            if (!driver.Writer.TryReserve(RecordBytes, out Reservation room)) throw new FailedRoundException("the pages had no room");
            _record.AsSpan().CopyTo(room.Bytes);
            driver.Writer.Leave(room);
        }
    }

    private void CopyLocked(int count)
    {
        for (int i = 0; i < count; i++)
        {
            lock (_gate)
            {
                _record.AsSpan().CopyTo(_page.AsSpan(_end));
                _end = (_end + RecordBytes) & (_page.Length - 1);
            }
        }
    }

    private void WriteToChannel(int count)
    {
        for (int i = 0; i < count; i++)
            if (!_channel.Writer.TryWrite((i, count))) throw new FailedRoundException("the channel had no room");
    }

    private void Drain()
    {
        while (_channel.Reader.TryRead(out _)) { }
    }
}
