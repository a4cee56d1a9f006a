using System.Globalization;
using Spectre.Console;

namespace Ambrosia.Perf;

/// <summary>Figures for people: a table for each kind of result.</summary>
internal static class Report
{
    private const int RedirectedWidth = 180;

    /// <summary>A file or a pipe has no width of its own.</summary>
    static Report()
    {
        if (Console.IsOutputRedirected) AnsiConsole.Profile.Width = RedirectedWidth;
    }

    public static void Show(IReadOnlyList<SizeResult> sizes)
    {
        Table table = NewTable("bytes", "leg", "messages/s", "MB/s", "CPU s/million", "commits", "bytes/commit", "log/payload",
            "ours ÷ leg", "range", "pairs", "slowest/fastest");
        foreach (SizeResult size in sizes)
        {
            foreach (LegResult leg in size.Legs)
            {
                PairedRatio? ratio = size.Ratios.FirstOrDefault(each => each.Rival == leg.Leg);
                table.AddRow(
                    $"{size.Bytes}", leg.Leg, Number(leg.MessagesPerSecond, "N0"), Number(leg.MegabytesPerSecond, "N1"),
                    Number(leg.CpuSecondsPerMillion, "F3"), Number(leg.Commits, "N0"), Number(leg.BytesPerCommit, "N0"),
                    Number(leg.LogBytesPerByte, "F2"), Number(ratio?.Median, "G3"),
                    ratio?.Min is null ? "" : $"{Number(ratio.Min, "G3")}–{Number(ratio.Max, "G3")}",
                    ratio is null ? "" : $"{ratio.Pairs} (−{ratio.Dropped})", Number(leg.Spread, "F2"));
            }
        }
        AnsiConsole.Write(table);
        ShowKilled([.. sizes.SelectMany(static size => size.Killed)], "ended with the same count, bytes and order");
        if (sizes.SelectMany(static size => size.Ours.Rounds).Select(static round => round.Impulses).OfType<Latencies>()
            .ToList() is { Count: > 0 } impulses) ShowLatencies(("impulses", Latencies.MedianOf(impulses), null));
    }

    public static void Show(PingResult result)
    {
        ShowLatencies([.. result.Closed.Select(static leg => ($"{leg.Leg}, one at a time", leg.Median, (double?)leg.CallsPerSecond)),
            .. result.Crowd.Select(static leg => ($"{leg.Leg}, many at a time", leg.Median, (double?)leg.CallsPerSecond)),
            ("ambrosia, at fixed moments", result.Open.Median, result.OpenPerSecond)]);
        ShowKilled(result.Killed, "had each call answered rightly");
        ShowRatios("p50, ours ÷ leg", result.P50Ratios);
        ShowRatios("p99, ours ÷ leg", result.P99Ratios);
        ShowRatios("calls/s with many at a time, ours ÷ leg", result.CrowdRatios);
    }

    private static void ShowKilled(IReadOnlyList<KilledRound> killed, string how)
    {
        if (killed.Count > 0)
            Console.WriteLine(
                $"{killed.Count} rounds lost processes in the middle ({string.Join(", ", killed.Select(static each => each.Target).Distinct())}) and {how}; the end came {Number(Median.Of(killed, static each => each.SecondsAfterKill), "F2")} s after the kill (median)");
    }

    /// <summary>A table of any rows.</summary>
    public static void Show(IReadOnlyList<string> columns, IEnumerable<string[]> rows)
    {
        Table table = NewTable([.. columns]);
        foreach (string[] row in rows) table.AddRow(row);
        AnsiConsole.Write(table);
    }

    /// <summary>Empty for null.</summary>
    public static string Number(double? value, string format) => value?.ToString(format, CultureInfo.InvariantCulture) ?? "";

    private static void ShowLatencies(params IReadOnlyList<(string Name, Latencies Latencies, double? PerSecond)> rows) => Show(
        ["", "calls", "calls/s", "p50 µs", "p90 µs", "p99 µs", "p99.9 µs", "max µs"],
        rows.Select(static row => new[]
        {
            row.Name, $"{row.Latencies.Count}", Number(row.PerSecond, "N0"), Number(row.Latencies.P50, "F1"),
            Number(row.Latencies.P90, "F1"), Number(row.Latencies.P99, "F1"), Number(row.Latencies.P999, "F1"),
            Number(row.Latencies.Max, "F1"),
        }));

    private static void ShowRatios(string what, IReadOnlyDictionary<string, double> ratios)
    {
        foreach ((string rival, double ratio) in ratios) Console.WriteLine($"{what} {rival}: {Number(ratio, "F2")}");
    }

    private static Table NewTable(params ReadOnlySpan<string> columns)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        foreach (string column in columns) table.AddColumn(new TableColumn(column).RightAligned());
        return table;
    }
}
