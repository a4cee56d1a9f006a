using System.Globalization;
using Spectre.Console;

namespace Ambrosia.Perf;

/// <summary>Figures for people, and for the file.</summary>
internal static class Report
{
#if DEBUG
    private static readonly string configuration = "Debug";
#else
    private static readonly string configuration = "Release";
#endif
    private const string Durability = "each message is flushed to the receiver's log (write, fdatasync, fence check) before its handler runs; calls to itself and answers likewise in the sender's";

    public static void Show(IReadOnlyList<StreamResult> results)
    {
        Table table = NewTable("bytes", "messages", "s (median)", "messages/s", "MB/s", "slowest/fastest");
        foreach (StreamResult each in results)
            table.AddRow($"{each.Bytes}", $"{each.Messages}", Number(each.MedianSeconds, "F3"), Number(each.MessagesPerSecond, "N0"), Number(each.MegabytesPerSecond, "N1"), Number(each.Spread, "F2"));
        AnsiConsole.Write(table);
    }

    public static void Show(IReadOnlyList<Latencies> rounds)
    {
        Table table = NewTable("round", "calls", "p50 µs", "p90 µs", "p99 µs", "p99.9 µs", "max µs");
        for (int i = 0; i < rounds.Count; i++) AddRow(table, $"{i + 1}", rounds[i]);
        AddRow(table, "median", Latencies.MedianOf(rounds));
        AnsiConsole.Write(table);
    }

    public static void Save(string? directory, string name, string[] args, MachineInfo machine, object figures)
    {
        Console.WriteLine($"durability: {Durability}");
        Console.WriteLine($"log on {machine.LogFileSystem}; {machine.Cores} × {machine.Cpu}");
        if (configuration == "Debug")
        {
            Console.WriteLine("A debug build: its figures mean nothing and are not kept. Run with -c Release.");
            return;
        }
        string into = directory ?? Path.Combine(SourceVersion.Root() ?? Environment.CurrentDirectory, "perf", "results");
        var file = new ResultFile($"Ambrosia.Perf {string.Join(' ', args)}", DateTimeOffset.UtcNow, SourceVersion.Describe(), configuration, Durability, machine, figures);
        Console.WriteLine($"kept in {file.Save(into, name)}");
    }

    private static void AddRow(Table table, string name, Latencies each) =>
        table.AddRow(name, $"{each.Count}", Number(each.P50, "F1"), Number(each.P90, "F1"), Number(each.P99, "F1"), Number(each.P999, "F1"), Number(each.Max, "F1"));

    private static Table NewTable(params ReadOnlySpan<string> columns)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        foreach (string column in columns) table.AddColumn(new TableColumn(column).RightAligned());
        return table;
    }

    private static string Number(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
