using System.Diagnostics;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Owns the threads that drive one replica, and answers what its parts ask of them. A pump that does not run yet is asked for nothing. The
/// starting thread starts them; any thread asks.
/// </summary>
/// <param name="fail">Ends the process.</param>
/// <param name="progress">The pumps enter themselves here.</param>
internal sealed class PumpSet(Action<int, string> fail, PumpProgress progress) : IPumps, IDisposable
{
    private readonly CommitPump _commits = new(fail, progress);
    private BackgroundPump? _background;
    private CheckpointPump? _checkpoints;
    private TimerPump? _timers;
    private OutputPump? _outputs;
    private CatalogPump? _catalog;

    /// <summary>The links' pump is there before the others start.</summary>
    public LinkPump? Links { get; private set; }

    public AppPump? App { get; private set; }

    /// <summary>The pump of a secondary; null: this replica is primary from its start.</summary>
    public SecondaryPump? Secondary { get; private set; }

    /// <summary>Starts to commit, since this replica has the log now.</summary>
    public void StartCommits(Committer committer) => _commits.Start(committer);

    /// <summary>Starts what runs in either role. Peers and callers are let in later.</summary>
    /// <param name="calls">The calls that threads may hang in.</param>
    /// <param name="garbage">Null: others have a say in this process's memory.</param>
    public void Start(CoordinatorInputs inputs, Coordinator parts, AppEndpoint endpoint, LinkPump links, BlockingCalls calls,
        GarbageBound? garbage)
    {
        Links = links;
        _checkpoints = new CheckpointPump(parts.Checkpoints, fail, inputs.Logger, progress);
        _checkpoints.Start();
        App = new AppPump(parts, endpoint, _commits.WaitForRoom, fail, inputs.Logger, progress);
        _background = new BackgroundPump(parts, calls, () => _commits.Commit(drained: false), fail, garbage, progress);
        _commits.SpaceWanted = _background.PrepareSpaceNow;
        _commits.Stirred = _background.Stir;
        _timers = new TimerPump(parts, fail, progress);
        _outputs = new OutputPump(parts.Links.Admission.TellOutputs, () => parts.Links.Admission.HasOutputs, fail, progress);
        App.Start();
        _background.Start();
        _timers.Start();
    }

    /// <summary>Starts what has to do with the catalog, before the app can become primary.</summary>
    public void StartCatalog(CatalogPump catalog)
    {
        _catalog = catalog;
        catalog.Start();
    }

    /// <summary>Starts to follow the log of another primary.</summary>
    public void Follow(SecondaryPump secondary)
    {
        Secondary = secondary;
        secondary.Start();
    }

    /// <summary>Ends what claims epochs and what writes checkpoints.</summary>
    public void EndFollowing()
    {
        Secondary?.Dispose();
        _checkpoints?.Dispose();
    }

    /// <summary>
    /// Brings the log to a clean end, by the decisions of <see cref="CleanEnd"/>.
    /// </summary>
    public void EndCleanly(CleanEnd end)
    {
        LockChecks.BeforeWait();
        var patience = Stopwatch.StartNew();
        for (CleanEndStep step; (step = end.Next(patience.Elapsed)) != CleanEndStep.Over; Thread.Sleep(1))
            if (step == CleanEndStep.Commit) _commits.Commit(drained: true);
    }

    /// <summary>
    /// Tells the app to end in order, and waits for it. Of one that somebody else has started, only the session is seen to end.
    /// </summary>
    /// <param name="live">The app's session; null: it has none.</param>
    /// <param name="apps">Null: this process has started none.</param>
    public static void EndApps(AppSession? live, AppProcesses? apps)
    {
        live?.Send(new Goodbye(GoodbyeCode.CleanStop, "the coordinator stops"));
        LockChecks.BeforeWait();
        apps?.End();
        var patience = Stopwatch.StartNew();
        while (apps is null && live is { IsEnded: false } && patience.Elapsed < AppSupervisor.Grace) Thread.Sleep(1);
    }

    public void Commit(bool drained) => _commits.Commit(drained);

    public void WaitForRoom(CancellationToken stop) => _commits.WaitForRoom(stop);

    public void CheckpointWork() => _checkpoints?.Wake();

    public void RoomForApp() => _commits.MadeRoom();

    public void TimersChanged() => _timers?.Wake();

    public void OutputsWait() => _outputs?.Wake();

    public void Dial()
    {
        Links?.Wake();
        _catalog?.Wake();
    }

    public void Fail(int code, string why) => fail(code, why);

    public void Dispose()
    {
        Secondary?.Dispose();
        App?.Dispose();
        _timers?.Dispose();
        _outputs?.Dispose();
        _background?.Dispose();
        _checkpoints?.Dispose();
        _catalog?.Dispose();
        Links?.Dispose();
        _commits.Dispose();
    }
}
