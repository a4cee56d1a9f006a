using System.Globalization;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace HelloWorld.Orchestration;

/// <summary>A table that is drawn again in its place, for terminals.</summary>
internal sealed class LiveTable : IScreen
{
    public void During(Action<Action<RunStatus>> body) =>
        AnsiConsole.Live(new Text("starting two immortals: four processes …")).Start(screen => body(now => screen.UpdateTarget(Draw(now))));

    private static IRenderable Draw(RunStatus now) => new Rows(DrawProcesses(now), DrawCalls(now));

    private static Table DrawProcesses(RunStatus now)
    {
        Table table = new Table().Border(TableBorder.Rounded).AddColumn("process").AddColumn(new TableColumn("pid").RightAligned())
            .AddColumn(new TableColumn("kill -9").RightAligned());
        foreach (ProcessStatus process in now.Processes)
            table.AddRow(process.Name, process.Id == 0 ? "[red]killed[/]" : $"[green]{process.Id}[/]", $"{process.Kills}");
        return table;
    }

    private static Table DrawCalls(RunStatus now)
    {
        Table table = new Table().Border(TableBorder.Rounded).HideHeaders().AddColumn("what")
            .AddColumn(new TableColumn("value").RightAligned());
        table.AddRow("calls made", $"{Count(now.Made)} of {Count(now.Wanted)}");
        table.AddRow("calls applied", Count(now.Applied));
        table.AddRow("answers awaited", Count(now.Answers));
        table.AddRow("durable calls/s", Count((long)now.CallsPerSecond));
        table.AddRow("kills", $"{now.Kills} of {now.KillsPlanned}");
        table.AddRow("recoveries",
            now.Recoveries.IsRecovering ? $"[yellow]recovering[/] {now.Recoveries.Count}" : $"{now.Recoveries.Count}");
        table.AddRow("recovery, last", Ms(now.Recoveries.Last));
        table.AddRow("recovery, median", Ms(now.Recoveries.Median));
        table.AddRow("time", $"{now.Elapsed.TotalSeconds.ToString("F1", CultureInfo.InvariantCulture)} s");
        return table;
    }

    private static string Count(long number) => number.ToString("N0", CultureInfo.InvariantCulture);

    private static string Ms(TimeSpan? time) =>
        time is { } known ? $"{known.TotalMilliseconds.ToString("F0", CultureInfo.InvariantCulture)} ms" : "";
}
