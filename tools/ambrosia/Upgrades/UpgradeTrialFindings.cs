using System.Globalization;
using Ambrosia.Inspection.Replays;
using Ambrosia.Inspection.Upgrades;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replays;

namespace Ambrosia.Tools.Upgrades;

/// <summary>Shows what the trial of an upgrade has come to.</summary>
/// <param name="to">The version that was tried.</param>
/// <param name="log">The path of the log.</param>
/// <param name="app">The command of the new app.</param>
internal sealed class UpgradeTrialFindings(UpgradeTrialReport report, uint to, string log, string app) : IReport
{
    /// <summary>Everything below was executed in the state that was converted.</summary>
    public string RehearsedAt => $"{report.Rehearsal.Position}";

    /// <summary>The image of the new version's state has so many bytes; 0 where it could not be converted.</summary>
    public ulong ImageBytes => report.Rehearsal.ImageBytes;

    /// <summary>The conversion took so long.</summary>
    public double ConversionMs => Math.Round(report.Rehearsal.Took.TotalMilliseconds, 1);

    /// <summary>Why the state cannot be converted; null: it can.</summary>
    public string? RefusedBecause => report.Rehearsal.Why.Length > 0 ? report.Rehearsal.Why : null;

    /// <summary>What the new version did with the recorded inputs; null: the state could not be converted.</summary>
    public ReplayFindingsReport? Replay =>
        report.Replay is { } replay ? new ReplayFindingsReport(replay, log, app) { IsOfVersions = true } : null;

    internal int ExitCode => report.Replay?.Outcome switch
    {
        ReplayOutcome.Alike => ToolExit.Fine,
        ReplayOutcome.NotComparable => ReplayExit.NotComparable,
        _ => ToolExit.Damage,
    };

    public void Draw(Screen screen)
    {
        if (RefusedBecause is { } why)
        {
            screen.Line($"REFUSED at {RehearsedAt}: {why}", Tone.Bad);
            return;
        }
        screen.Line(string.Create(CultureInfo.InvariantCulture,
            $"Rehearsed at {RehearsedAt}: version {to} has a state of {ImageBytes:N0} bytes, made within {ConversionMs:N0} ms. Callers would wait about so long, and as long as for a fail-over."),
            Tone.Good);
        Replay!.Draw(screen);
    }
}
