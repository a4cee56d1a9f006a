using System.CommandLine;
using System.CommandLine.Parsing;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Replays;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;
using Ambrosia.Tools.Replicas;

namespace Ambrosia.Tools.Replays;

/// <summary>
/// The command <c>ambrosia replay DIR --app COMMAND</c> lets other code execute the recorded inputs of a log, and says what it does
/// otherwise. Nothing of what it does gets out, and the log is only read.
/// </summary>
internal sealed class ReplayToolCommand : ToolCommand
{
    private const int StopAtMax = 1_000;

    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log, or of a copy of it." };

    private readonly Option<string> _app = new("--app")
    {
        Description = "The command that starts the build that is tried, for the shell.", HelpName = "COMMAND", Required = true,
    };

    private readonly Option<string?> _old = new("--old")
    {
        Description = "The command that starts the build that made the log: both execute it side by side, and everything is compared. Without it calls are held against the logs of those who were called, and everything against the digests of this log.",
        HelpName = "COMMAND",
    };

    private readonly Option<string?> _from = new("--from")
    {
        Description = "Begin at this place (POS as for 'ambrosia state --at'); default: the oldest that can be executed, and with --follow the newest checkpoint.",
        HelpName = "POS",
    };

    private readonly Option<string?> _until = new("--until")
    {
        Description = "End before this place; default: the end of the log.", HelpName = "POS",
    };

    private readonly Option<bool> _follow = new("--follow")
    {
        Description = "Wait at the end of a live log for more, until Ctrl-C: the build is judged by what happens now.",
    };

    private readonly Option<string?> _catalog = new("--catalog")
    {
        Description = "The catalog of the coordinators, which says where the logs of those who were called are.", HelpName = "DIR",
    };

    private readonly Option<string[]> _peers = new("--peer")
    {
        Description = "Where the log of one who was called is, or a copy of it; before what the catalog says. May be given again.",
        HelpName = "NAME=DIR",
    };

    private readonly NumberOption _stopAt = new("--stop-at", "N", 1, StopAtMax,
        "End at the difference of this number; behind one that differs in arguments only, the next can be told.", otherwise: 1);

    public ReplayToolCommand(ToolStreams streams)
        : base(streams, "replay", "Lets other code execute the recorded inputs, and compares what it does with what was done.")
    {
        Add(_directory);
        foreach (Option option in (Option[])[_app, _old, _from, _until, _follow, _catalog, _peers, _stopAt]) Add(option);
        _peers.Validators.Add(static result =>
        {
            if (result.Tokens.FirstOrDefault(static each => each.Value.IndexOf('=') < 1) is { } wrong)
                result.AddError($"--peer '{wrong.Value}' names no directory; give NAME=DIR");
        });
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string app = parsed.GetRequiredValue(_app);
        var options = new ReplayOptions
        {
            LogDirectory = log.Path, App = Shell(app), Old = parsed.GetValue(_old) is { } old ? Shell(old) : [],
            From = parsed.GetValue(_from), Until = parsed.GetValue(_until), Follows = parsed.GetValue(_follow),
            StopAt = _stopAt.IntOf(parsed)!.Value, DirectoryOf = Logs(parsed, screen),
        };
        return RunUntilStopped(screen, stop =>
        {
            using var replay = new ReplaySession(options, new PosixFileSystem(), TimeProvider.System, screen.Note);
            ReplayReport report = screen.WithProgress("replay", replay.BytesTotal, done => replay.Run(done, stop));
            screen.Show(new ReplayFindingsReport(report, log.Path, app));
            return Judge(report, isUntilGiven: options.Until is not null);
        });
    }

    /// <summary>Lets builds execute a log until that is over or the user ends it; returns the exit code.</summary>
    internal static int RunUntilStopped(Screen screen, Func<CancellationToken, int> run)
    {
        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        try
        {
            return run(stop.Token);
        }
        catch (ViewEndedException ended)
        {
            screen.Note(ended.Message);
            return ended.Code == ExitCodes.Damage ? ReplayExit.Damage : ToolExit.Misuse;
        }
        catch (LogDamage damage)
        {
            screen.Show(DamageReport.Of(damage));
            return ReplayExit.Damage;
        }
    }

    /// <summary>
    /// Returns the exit code. What was compared with nothing may be behind the last digest; where the user has named the end, all before it
    /// is to be compared.
    /// </summary>
    private static int Judge(ReplayReport report, bool isUntilGiven) => report.Outcome switch
    {
        ReplayOutcome.Different => ToolExit.Damage,
        ReplayOutcome.NotComparable => ReplayExit.NotComparable,
        _ => isUntilGiven && report.NotCompared.Count > 0 ? ReplayExit.NotComparable : ToolExit.Fine,
    };

    private Func<InstanceId, string?> Logs(ParseResult parsed, Screen screen)
    {
        var known = new Dictionary<string, string>(StringComparer.Ordinal);
        if (parsed.GetValue(_catalog) is { } catalog)
            foreach ((string instance, string directory) in CatalogEntries.Read(CatalogEntries.Require(catalog), screen))
                known[instance] = directory;
        foreach (string peer in parsed.GetValue(_peers) ?? [])
        {
            int at = peer.IndexOf('=');
            known[peer[..at]] = LogDirectory.Open(peer[(at + 1)..]).Path;
        }
        return instance => known.GetValueOrDefault($"{instance}");
    }

    /// <summary>What an app writes to its output, it has written before, when the log was made; its errors are of this build.</summary>
    public static string[] Shell(string command) => ["sh", "-c", $"exec {command} >/dev/null"];
}

/// <summary>It lists the exit codes of a replay that other commands do not have.</summary>
internal static class ReplayExit
{
    /// <summary>Nothing, or not all that was asked for, could be compared.</summary>
    public const int NotComparable = 3;

    /// <summary>The log is damaged; 1 says that something differs.</summary>
    public const int Damage = ExitCodes.Damage;
}
