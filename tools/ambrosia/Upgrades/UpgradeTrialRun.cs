using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Inspection.Replays;
using Ambrosia.Inspection.Upgrades;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replays;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// Runs the new build for <c>ambrosia upgrade check --test-upgrade</c>: it has the options that say how, and tells what has come of it.
/// </summary>
internal sealed class UpgradeTrialRun
{
    private readonly Option<string?> _app = new("--test-upgrade")
    {
        Description = "Also run the new build, by this command, for the shell: convert a copy of the state at the log's end, and execute the recorded inputs behind a checkpoint beside the old version.",
        HelpName = "COMMAND",
    };

    private readonly Option<string?> _oldApp = new("--old-app")
    {
        Description = "The command of the build that has executed the log so far, where the new one does not carry its version.",
        HelpName = "COMMAND",
    };

    private readonly Option<string?> _from = new("--from")
    {
        Description = "Begin with the checkpoint at this place (POS as for 'ambrosia state --at'); default: the oldest of the version in force, and with --follow the newest.",
        HelpName = "POS",
    };

    private readonly Option<bool> _follow = new("--follow")
    {
        Description = "Wait at the end of a live log for more, until Ctrl-C: the new version is judged by what happens now.",
    };

    private readonly TimeOption _limit = new("--upgrade-limit", "10s", "A conversion may take so long.");

    public UpgradeTrialRun(Command command)
    {
        foreach (Option option in (Option[])[_app, _oldApp, _from, _follow, _limit]) command.Add(option);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_app) is { Implicit: false }) return;
            foreach (Option each in (Option[])[_oldApp, _from, _follow])
                if (result.GetResult(each) is { Implicit: false }) result.AddError($"{each.Name} says how --test-upgrade runs, which is not given");
        });
    }

    /// <summary>Tries the upgrade if that was asked for; returns the exit code.</summary>
    /// <param name="to">The version that the new build states.</param>
    public int Run(ParseResult parsed, LogDirectory log, uint to, Screen screen)
    {
        if (parsed.GetValue(_app) is not { } app) return ToolExit.Fine;
        var options = new UpgradeTrialOptions
        {
            LogDirectory = log.Path, App = ReplayToolCommand.Shell(app), To = to,
            OldApp = parsed.GetValue(_oldApp) is { } old ? ReplayToolCommand.Shell(old) : [],
            From = parsed.GetValue(_from), Follows = parsed.GetValue(_follow), Limit = _limit.Of(parsed),
        };
        return ReplayToolCommand.RunUntilStopped(screen, stop =>
        {
            try
            {
                using var trial = new UpgradeTrial(options, new PosixFileSystem(), TimeProvider.System, screen.Note);
                UpgradeTrialReport report = screen.WithProgress("trial", trial.BytesTotal, done => trial.Run(done, stop));
                var findings = new UpgradeTrialFindings(report, to, log.Path, app);
                screen.Show(findings);
                return findings.ExitCode;
            }
            catch (OperationCanceledException)
            {
                screen.Note("it was stopped before the state at the log's end was converted");
                return ReplayExit.NotComparable;
            }
        });
    }
}
