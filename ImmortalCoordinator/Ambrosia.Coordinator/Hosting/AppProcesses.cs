using Ambrosia.AppChannel;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Log.Files;
using Ambrosia.Protocol.Locking;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Owns the processes of the apps: one, or the two of an upgrade by two builds, of which the old one runs while it is wanted; and one that
/// is to take the running one's place. The starting thread makes it; any thread may use it.
/// </summary>
internal sealed class AppProcesses : IInPlaceApps, IDisposable
{
    /// <summary>A death is told of so many bodies that ran; the lines count the others.</summary>
    private const int TaskLinesMax = 5;

    private readonly RankedLock _gate = new(LockRank.AppProcesses);
    private readonly Coordinator _parts;
    private readonly AppEndpoint _endpoint;
    private readonly (CoordinatorOptions Options, IFileSystem Files) _own;
    private readonly IncidentJournal _incidents;
    private readonly ILogger _logger;
    private readonly Action<int, string> _fail;

    /// <summary>It says which app is which. Guarded by the lock.</summary>
    private Apps _now;

    /// <summary>It says which one was which before an upgrade in place; null: none has begun. Guarded by the lock.</summary>
    private Apps? _before;

    /// <summary>It is to take the running app's place, and may still come to nothing; null: none is. Guarded by the lock.</summary>
    private OneApp? _next;

    private bool _isOver;

    /// <param name="fail">Ends this process.</param>
    public AppProcesses(
        CoordinatorInputs inputs, AppEndpoint endpoint, Coordinator parts, IncidentJournal incidents, Action<int, string> fail)
    {
        (_parts, _endpoint, _incidents, _logger, _fail) = (parts, endpoint, incidents, inputs.Logger, fail);
        CoordinatorOptions options = inputs.Options;
        _own = (options, inputs.Files);
        UpgradeParts? upgrade = parts.Upgrades.Parts;
        _now = new Apps(Make(options.App, endpoint.Environment), null, options.Upgrade?.OldApp ?? [], endpoint.OldEnvironment,
            upgrade?.Apps?.Pair);
        if (upgrade is not null) upgrade.Round.Over += UpgradeGivenUp;
    }

    public void Start()
    {
        _now.App.Supervisor.Start();
        if (_now.Pair is not { } pair) return;
        pair.Changed += StartWanted;
        StartWanted();
    }

    private OneApp Make(IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment)
    {
        AppSupervisor? made = null;
        made = new AppSupervisor(new AppCommand(command, environment), () => _parts.Execution.Progress.Processed, _incidents, _logger,
            (code, why) => Failed(made!, code, why)) 
        {
            IsLive = () => IsLive(made!), HasExecutedAll = () => _parts.Execution.Progress.IsDry, BodiesRan = BodiesRan,
        };
        return new OneApp(made, command, environment);
    }

    /// <summary>The app has ended with this code. What it ran of tasks' bodies is told.</summary>
    private bool BodiesRan(int code)
    {
        const int killed = Incident.EndedBySignal + 9, terminated = Incident.EndedBySignal + 15;
        IReadOnlyList<TaskBody> ran = _parts.Bodies.Died(
            byItself: code is not (ExitCodes.Ok or ExitCodes.Misuse or ExitCodes.Divergence or ExitCodes.Io or killed or terminated));
        foreach (TaskBody body in ran.OrderByDescending(static body => body.Deaths).Take(TaskLinesMax))
            if (body.IsAside) _logger.TaskSetAside(body.Task, body.Begun, body.Name);
            else _logger.TaskSuspected(code, body.Task, body.Begun, body.Name, body.Deaths, ran.Count - 1);
        return ran.Count > 0;
    }

    /// <summary>It is the one that executes the log.</summary>
    private bool IsLive(AppSupervisor app)
    {
        using (_gate.Enter()) return _now.Serving?.Supervisor == app;
    }

    // ---- apps that cannot be started ----

    private void Failed(AppSupervisor app, int code, string why)
    {
        bool isNext, isOld, isApp, isGiven;
        using (_gate.Enter())
        {
            (isNext, isOld, isApp) = (_next?.Supervisor == app, _now.Old?.Supervisor == app, _now.App.Supervisor == app);
            isGiven = _before is null;
        }
        if (isNext && _parts.Upgrades.InPlace.Refuse(why)) return;
        if (isOld) OldAppFailed(code, isGiven ? $"--old-app: {why}" : why);
        else if (isApp) NewAppFailed(code, why);
    }

    /// <summary>
    /// The app cannot be started. Where the old one of two has the log and the upgrade may still be given up, that one goes on.
    /// </summary>
    private void NewAppFailed(int code, string why)
    {
        if (_parts is not { HasLog: true, Upgrades.Parts: { Apps: not null } upgrade } || !upgrade.Round.TryGiveUp(why)) _fail(code, why);
    }

    /// <summary>The old app cannot be started. Behind the upgrade it is wanted where no checkpoint of the new version can serve.</summary>
    private void OldAppFailed(int code, string why)
    {
        if (_parts.Upgrades.Parts?.Apps?.Pair.Needed is not { } needed || _parts.AppVersion <= needed.Version) _fail(code, why);
        else _fail(ExitCodes.Damage,
            $"{new FormerVersionMissingException(needed.Version, _parts.AppVersion, needed.Build).Message}. The app of --old-app cannot be started: {why}");
    }

    /// <inheritdoc cref="AppPump.Replacement"/>
    public Action? Replacement()
    {
        OneApp? serving;
        using (_gate.Enter()) serving = _now.Serving;
        return serving?.Supervisor.Replacement();
    }

    // ---- the two of an upgrade ----

    /// <summary>Starts the old app where it is wanted, and ends it where it is not.</summary>
    private void StartWanted()
    {
        AppSupervisor? ended = null, begun = null;
        using (_gate.Enter())
        {
            if (_isOver || _now.Pair!.IsNewWanted == (_now.Old is null)) return;
            if (_now.Pair.IsNewWanted) (ended, _now) = (_now.Old!.Supervisor, _now with { Old = null });
            else
            {
                _now = _now with { Old = Make(_now.OldCommand, _now.OldEnvironment) };
                begun = _now.Old.Supervisor;
            }
        }
        begun?.Start();
        ended?.StartNoMore();
        if (ended is not null && PumpThread.TryStart("old app", ended.End, _fail) is null) ended.End(); // it takes a few seconds
    }

    /// <summary>The upgrade was given up: of two apps the new one has nothing to do any more; one that hangs is started again.</summary>
    private void UpgradeGivenUp(HangingApp? hanging)
    {
        Apps now;
        using (_gate.Enter()) now = _now;
        if (now.Pair is { IsNewWanted: false }) now.App.Supervisor.EndNow();
        else if (hanging == HangingApp.New) now.App.Supervisor.EndHanging();
        if (hanging == HangingApp.Old) now.Old?.Supervisor.EndHanging();
    }

    // ---- an upgrade under the running primary ----

    public IReadOnlyList<string> Running { get { using (_gate.Enter()) return (_now.Serving ?? _now.App).Command; } }

    public bool IsOldServing { get { using (_gate.Enter()) return _now.Pair?.IsNewWanted == false; } }

    public string? WhatIsWrong(IReadOnlyList<string> app) =>
        AppPath.WhatIsWrong(app[0]) is { } unknown ? $"{unknown}. Give its program, and its arguments, as one text with --to" : null;

    public ReadOnlyMemory<byte> Begin(IReadOnlyList<string> app)
    {
        (ReadOnlyMemory<byte> token, IReadOnlyDictionary<string, string> environment) = _endpoint.NewApp(_own.Files);
        OneApp next = Make(app, environment);
        using (_gate.Enter()) _next = next;
        next.Supervisor.Start();
        return token;
    }

    public void TurnTo(AppPair pair)
    {
        using (_gate.Enter())
        {
            _before = _now;
            OneApp serving = _now.Serving ?? _now.App;
            _now = new Apps(_next!, serving, serving.Command, serving.Environment, pair);
        }
        pair.Changed += StartWanted;
    }

    public void Switches(uint to)
    {
        Apps now;
        using (_gate.Enter()) now = _now;
        new NextAppFile(to, now.App.Command, now.OldCommand).Write(_own.Files, _own.Options);
    }

    public void Ended(bool isMade)
    {
        OneApp? next;
        using (_gate.Enter())
        {
            (next, _next) = (_next, null);
            if (!isMade && _now.App == next) _now = _before!;
        }
        if (isMade) return;
        next?.Supervisor.EndNow();
        NextAppFile.Remove(_own.Files, _own.Options);
    }

    // ---- the end ----

    public void StartNoMore()
    {
        foreach (OneApp each in AllFromNow()) each.Supervisor.StartNoMore();
    }

    private List<OneApp> AllFromNow()
    {
        using (_gate.Enter())
        {
            _isOver = true;
            return [.. new[] { _now.App, _now.Old, _next }.OfType<OneApp>().Distinct()];
        }
    }

    /// <summary>Ends them, of which one was told to; see <see cref="AppSupervisor.End"/>.</summary>
    public void End()
    {
        StartNoMore();
        Apps now;
        OneApp? next;
        using (_gate.Enter()) (now, next) = (_now, _next);
        if (now.Old is not null) now.App.Supervisor.EndNow(); // it waits beside the old one, and nobody tells it anything
        next?.Supervisor.EndNow();
        LockChecks.BeforeWait();
        now.Old?.Supervisor.End();
        now.App.Supervisor.End();
    }

    public void Dispose() => End();

    /// <summary>Is one app of this replica, and what it is started with.</summary>
    private sealed record OneApp(
        AppSupervisor Supervisor, IReadOnlyList<string> Command, IReadOnlyDictionary<string, string> Environment);

    /// <summary>Says which app is which: the app, or the new one of two; and the old one, and how it is started if it is wanted.</summary>
    /// <param name="Old">It runs; null: it is not wanted.</param>
    /// <param name="Pair">It knows which of the two is wanted; null: there is one.</param>
    private sealed record Apps(
        OneApp App, OneApp? Old, IReadOnlyList<string> OldCommand, IReadOnlyDictionary<string, string> OldEnvironment, AppPair? Pair)
    {
        /// <summary>It executes the log, or is to; null: the old one is to, and does not run now.</summary>
        public OneApp? Serving => Pair?.IsNewWanted == false ? Old : App;
    }
}
