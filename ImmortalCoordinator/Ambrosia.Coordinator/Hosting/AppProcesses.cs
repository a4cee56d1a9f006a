using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Owns the processes of the apps: one, or the two of an upgrade by two builds, of which the old one runs while it is wanted. The starting
/// thread makes it; any thread may use it.
/// </summary>
internal sealed class AppProcesses : IDisposable
{
    private readonly RankedLock _gate = new(LockRank.AppProcesses);
    private readonly Coordinator _parts;

    /// <summary>It knows which of two is wanted; null: there is one.</summary>
    private readonly AppPair? _pair;

    /// <summary>It looks after the app, or after the new one of two.</summary>
    private readonly AppSupervisor _app;

    /// <summary>Makes what looks after the old one of two.</summary>
    private readonly Func<AppSupervisor> _newOldApp;

    private readonly Action<int, string> _fail;

    /// <summary>It looks after the old app; null: that is not wanted. Guarded by the lock.</summary>
    private AppSupervisor? _oldApp;

    private bool _isOver;

    /// <param name="fail">Ends this process.</param>
    public AppProcesses(
        CoordinatorOptions options, AppEndpoint endpoint, Coordinator parts, IncidentJournal incidents, ILogger logger,
        Action<int, string> fail)
    {
        (_parts, _pair, _fail) = (parts, parts.Apps, fail);
        _app = NewSupervisor(options.App, endpoint.Environment, () => _pair?.IsNewWanted != false, NewAppFailed);
        _newOldApp = () => NewSupervisor(options.Upgrade!.OldApp, endpoint.OldEnvironment, static () => true, OldAppFailed);
        if (parts.Upgrade is not { } upgrade) return;
        upgrade.GaveUp += UpgradeGivenUp;

        AppSupervisor NewSupervisor(
            IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Func<bool> isLive,
            Action<int, string> failed) =>
            new(command, environment, () => parts.Execution.Progress.Processed, incidents, logger, failed) { IsLive = isLive };
    }

    public void Start()
    {
        _app.Start();
        if (_pair is null) return;
        _pair.Changed += StartWanted;
        StartWanted();
    }

    /// <summary>
    /// The app cannot be started. Where the old one of two has the log and the upgrade may still be given up, that one goes on.
    /// </summary>
    private void NewAppFailed(int code, string why)
    {
        if (_parts is not { HasLog: true, Upgrade: { } upgrade } || _pair is null || !upgrade.TryGiveUp(why)) _fail(code, why);
    }

    /// <summary>The old app cannot be started. Behind the upgrade it is wanted where no checkpoint of the new version can serve.</summary>
    private void OldAppFailed(int code, string why)
    {
        if (_pair?.Needed is not { } needed || _parts.AppVersion <= needed.Version) _fail(code, $"--old-app: {why}");
        else _fail(ExitCodes.Damage,
            $"{new FormerVersionMissingException(needed.Version, _parts.AppVersion, needed.Build).Message}. The app of --old-app cannot be started: {why}");
    }

    /// <summary>Starts the old app where it is wanted, and ends it where it is not.</summary>
    private void StartWanted()
    {
        AppSupervisor? ended = null, begun = null;
        using (_gate.Enter())
        {
            if (_isOver || _pair!.IsNewWanted == (_oldApp is null)) return;
            if (_pair.IsNewWanted) (ended, _oldApp) = (_oldApp, null);
            else _oldApp = begun = _newOldApp();
        }
        begun?.Start();
        ended?.StartNoMore();
        if (ended is not null) new Thread(ended.End) { Name = "old app", IsBackground = true }.Start();
    }

    /// <summary>The upgrade was given up: of two apps the new one has nothing to do any more; one that hangs is started again.</summary>
    private void UpgradeGivenUp(HangingApp hanging)
    {
        AppSupervisor? old;
        using (_gate.Enter()) old = _oldApp;
        if (_pair is { IsNewWanted: false }) _app.EndNow();
        else if (hanging == HangingApp.New) _app.EndHanging();
        if (hanging == HangingApp.Old) old?.EndHanging();
    }

    public void StartNoMore()
    {
        AppSupervisor? old;
        using (_gate.Enter()) (_isOver, old) = (true, _oldApp);
        _app.StartNoMore();
        old?.StartNoMore();
    }

    /// <summary>Ends them, of which one was told to; see <see cref="AppSupervisor.End"/>.</summary>
    public void End()
    {
        StartNoMore();
        AppSupervisor? old;
        using (_gate.Enter()) old = _oldApp;
        if (old is not null) _app.EndNow(); // it waits beside the old one, and nobody tells it anything
        LockChecks.BeforeWait();
        old?.End();
        _app.End();
    }

    public void Dispose() => End();
}
