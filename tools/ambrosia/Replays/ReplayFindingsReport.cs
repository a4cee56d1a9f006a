using System.Globalization;
using Ambrosia.Inspection.Replays;
using Ambrosia.Protocol.Texts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Replays;

/// <summary>Shows what a replay has come to.</summary>
/// <param name="log">The path of the log.</param>
/// <param name="app">The command that starts the build that was tried.</param>
internal sealed class ReplayFindingsReport(ReplayReport report, string log, string app) : IReport
{
    /// <summary>Two versions were compared, side by side, and not a build with what was done.</summary>
    internal bool IsOfVersions { get; init; }

    public string Outcome => report.Outcome switch
    {
        ReplayOutcome.Alike => "alike", ReplayOutcome.Different => "different", _ => "notComparable",
    };

    public string From => $"{report.From}";

    public string Until => $"{report.Until}";

    public long Records => report.Records;

    public ulong CallsCompared => report.CallsCompared;

    public long DigestsAgreed => report.DigestsAgreed;

    public int StatesCompared => report.StatesCompared;

    /// <summary>What nothing was held against, by whom it goes to; the callers outside are the empty name.</summary>
    public IReadOnlyDictionary<string, ulong> NotCompared => report.NotCompared;

    public IReadOnlyList<DifferenceRow> Differences => [.. report.Differences.Select(RowOf)];

    public string? EndedBecause => report.EndedBecause;

    /// <summary>Each handler was executed so long; the longest comes first.</summary>
    public IReadOnlyList<HandlerRow> Handlers => [.. report.Timings.Select(static each => new HandlerRow(each))];

    public double Seconds => Math.Round(report.Seconds, 3);

    /// <summary>The time in which the log was written, by that of this replay; null: it is not known.</summary>
    public double? TimesOriginal =>
        report.OriginalSeconds is { } original && report.Seconds > 0 ? Math.Round(original / report.Seconds, 2) : null;

    public void Draw(Screen screen)
    {
        string times = TimesOriginal is { } faster ? string.Create(CultureInfo.InvariantCulture, $", {faster:0.0} × original") : "";
        screen.Line(string.Create(CultureInfo.InvariantCulture,
            $"{Records:N0} records from {From} to {Until}: {CallsCompared:N0} calls and answers, {DigestsAgreed:N0} digests, {StatesCompared:N0} states compared   {report.Seconds:N1} s{times}"));
        foreach ((string to, ulong count) in report.NotCompared)
            screen.Line(Uncompared(to, count), Tone.Warning);
        if (report.Timings.Count > 0) screen.Table(HandlerRow.Table(Handlers));
        foreach (DifferenceRow row in Differences) row.Draw(screen);
        if (EndedBecause is not null) screen.Line($"It ends at {Until}: {EndedBecause}.");
        switch (report.Outcome)
        {
            case ReplayOutcome.Alike: screen.Line("ALIKE", Tone.Good); break;
            case ReplayOutcome.NotComparable:
                screen.Line($"NOTHING WAS COMPARED: {HowToCompare}", Tone.Bad);
                break;
        }
    }

    private string HowToCompare => IsOfVersions
        ? "no input is recorded behind the checkpoint; name an older one with --from, or let it --follow a live log"
        : "give --old, or --catalog or --peer for the logs of those who were called";

    private static string Uncompared(string to, ulong count)
    {
        string number = count.ToString("N0", CultureInfo.InvariantCulture);
        return to.Length == 0 ? $"not compared: {number} answers to callers outside that no digest covers (--old compares them)"
            : $"not compared: {number} calls to {to} that no digest covers (--catalog, --peer {to}=DIR or --old compares them)";
    }

    private DifferenceRow RowOf(ReplayDifference each) => new(
        $"{each.Place}", each.IsExact, each.Message, each.Then, each.Now, each.State,
        $"ImmortalCoordinator debug --log {ShellWords.Quote(log)} --until {each.Place} -- {app}");
}

/// <summary>Shows one difference.</summary>
/// <param name="Exact">The message at the place makes it; false: it, or one behind it.</param>
/// <param name="State">The values that differ, by their paths.</param>
/// <param name="Debug">The command that stops just before it.</param>
internal sealed record DifferenceRow(
    string Place, bool Exact, string Message, string? Then, string Now, IReadOnlyList<string> State, string Debug)
{
    public void Draw(Screen screen)
    {
        screen.Line($"DIFFERENT {(Exact ? "at" : "at or behind")} {Message}", Tone.Bad);
        if (Then is not null) screen.Line($"  then   {Then}");
        screen.Line($"  now    {Now}");
        foreach (string line in State) screen.Line($"  state  {line}");
        screen.Line($"  stop just before it: {Debug}");
    }
}
