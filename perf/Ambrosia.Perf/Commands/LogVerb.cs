using System.CommandLine;
using Ambrosia.Log.Format;

namespace Ambrosia.Perf;

/// <summary><c>log</c> on the command line.</summary>
internal sealed class LogVerb(string[] args)
{
    public const string Durability =
        "a log alone, without coordinator: each commit is one write, fdatasync and fence check; the floor is the same writes and reads in C (perf/floors)";

    private readonly Option<int> _rounds = Options.Number("--rounds", "Pairs of rounds, ours and the floor's in turn.", 7);
    private readonly Option<int> _appends = Options.Number("--appends", "Appends of a round, each flushed.", 400);
    private readonly Option<long> _bytes = Options.Size("--bytes", "Bytes of a round of the stream.", "512M");
    private readonly Option<string> _write = Write();

    public Command Command => new Measurement("log", args).Build(
        "The log alone against the same done raw in C: append + flush of 4 KiB, 64 KiB and 1 MiB, a stream of 16-byte messages, reading with all checks.",
        Measure, _rounds, _appends, _bytes, _write);

    internal static Option<string> Write() => Options.Word("--write", "Past the page cache or through it.", "auto", "direct", "buffered");

    internal static LogWriteMode ModeOf(string word) => Enum.Parse<LogWriteMode>(word, ignoreCase: true);

    private Outcome Measure(ParseResult parsed, ClusterOptions cluster)
    {
        LogResult found = new LogCommand(cluster, ModeOf(parsed.GetRequiredValue(_write)))
            .Run(parsed.GetValue(_rounds), parsed.GetValue(_appends), parsed.GetValue(_bytes));
        var appended =
            found.Figures.Where(static each => each.What.StartsWith("append ", StringComparison.Ordinal) && !each.What.Contains(','))
                .Select(static each => (Bytes: double.Parse(each.What.Split(' ')[1]), each)).ToList();
        var chart = new Chart("-append", "Append and flush", "bytes of a page", "GB/s",
            [new ChartLine("ours", [.. appended.Select(static a => (a.Bytes, a.each.OursGigabytesPerSecond))]),
                new ChartLine("raw C", [.. appended.Select(static a => (a.Bytes, a.each.FloorGigabytesPerSecond))])]);
        Chart reserve = ChartOf("-reserve", "Room for 16 bytes, copied", "writers at once", "ns",
            found.Memory.Where(static each => each.Ways[0].Name == "page"), static (each, way) => each.NanosecondsOf(way));
        Chart checksums = ChartOf("-checksums", "Checksum and copy", "bytes at once", "GB/s",
            found.Memory.Where(static each => each.Ways[0].Name != "page"), static (each, way) => 1 / each.NanosecondsOf(way));
        return new Outcome(found, Durability, () =>
        {
            Report.Show(["what", "GB/s", "raw C GB/s", "ours ÷ raw"], found.Figures.Select(static each => new[]
            {
                each.What, Report.Number(each.OursGigabytesPerSecond, "F3"), Report.Number(each.FloorGigabytesPerSecond, "F3"),
                Report.Number(each.Ratio, "F2"),
            }));
            Report.Show(["in memory", "ns", "ours ÷ it"], found.Memory.SelectMany(static each => each.Ways.Select(way => new[]
            {
                $"{each.What}: {way.Name}", Report.Number(each.NanosecondsOf(way), "F3"),
                way == each.Ways[0] ? "" : Report.Number(each.OursOver(way), "F2"),
            })));
            Console.WriteLine(
                $"file bytes for a byte of payload at 16 B: {found.FileBytesPerPayloadByte:F3}; written {(found.IsDirect ? "past" : "through")} the page cache");
        })
        { Charts = [chart, reserve, checksums] };
    }

    /// <summary>A line for each way.</summary>
    private static Chart ChartOf(
        string suffix, string title, string xAxis, string yAxis, IEnumerable<MemoryFigure> figures, Func<MemoryFigure, MemoryWay, double> y)
    {
        MemoryFigure[] all = [.. figures];
        return new Chart(suffix, title, xAxis, yAxis,
            [.. all[0].Ways.Select((way, i) => new ChartLine(way.Name, [.. all.Select(each => ((double)each.X, y(each, each.Ways[i])))]))]);
    }
}
