using System.Globalization;
using Ambrosia.Inspection.Replays;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replays;

/// <summary>Shows how long one handler was executed in a replay. It is time passed, so other work on the machine is in it.</summary>
internal sealed class HandlerRow(HandlerTiming timing)
{
    /// <summary>A single execution is too short for more digits to mean anything. In microseconds.</summary>
    private const int Digits = 3;

    /// <summary>It is named by its contract; empty: results, timers, tasks and all else that does not begin at a handler.</summary>
    public string Handler => timing.Handler;

    public ulong Messages => timing.Messages;

    /// <summary>The build that was tried has taken so long in all.</summary>
    public double NowSeconds => Math.Round(timing.Now, 6);

    /// <summary>The build of --old has taken so long in all; null: there is none.</summary>
    public double? ThenSeconds => timing.Then is { } then ? Math.Round(then, 6) : null;

    public static TextTable Table(IReadOnlyList<HandlerRow> rows)
    {
        bool isPaired = rows.Any(static each => each.ThenSeconds is not null);
        var table = isPaired ? new TextTable("handler", ">messages", ">then µs each", ">now µs each", ">now ÷ then")
            : new TextTable("handler", ">messages", ">µs each");
        foreach (HandlerRow row in rows)
        {
            string name = row.Handler.Length > 0 ? row.Handler : "(results, timers, tasks)";
            string count = row.Messages.ToString("N0", CultureInfo.InvariantCulture);
            if (isPaired) table.Add(name, count, row.Each(row.ThenSeconds), row.Each(row.NowSeconds), row.Ratio());
            else table.Add(name, count, row.Each(row.NowSeconds));
        }
        return table;
    }

    private string Each(double? seconds) => seconds is { } all && Messages > 0
        ? (all * 1e6 / Messages).ToString($"N{Digits}", CultureInfo.InvariantCulture) : "";

    private string Ratio() => timing.Then is > 0 and var then ? (timing.Now / then).ToString("N2", CultureInfo.InvariantCulture) : "";
}
