using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;
using CRA.Catalog;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Ends a secondary whose app makes other calls than the log's: it claims and publishes nothing any more, and before the process ends it
/// says which call differs, and at which record. It owns whether that has begun. Any thread may begin it; the first one counts.
/// </summary>
/// <param name="name">From the beginning on nobody counts on this replica: its name is free.</param>
/// <param name="canExecute">An app may come again and execute the stretch once more.</param>
internal sealed class DivergenceExit(
    CoordinatorInputs inputs, ICatalog catalog, TakeOverMonitor monitor, ReplicaLock name, bool canExecute)
{
    /// <summary>
    /// The logs of those who were called are read for so long before a primary ends without naming a call: less long where another replica
    /// may take its place.
    /// </summary>
    private static readonly TimeSpan s_lookMax = TimeSpan.FromSeconds(30), s_replacedLookMax = TimeSpan.FromSeconds(5);

    private int _hasBegun;

    /// <summary>The process ends with what this finds; other failures on the way do not matter.</summary>
    public bool HasBegun => Volatile.Read(ref _hasBegun) != 0;

    /// <summary>Begins, on a thread of its own; false: this is no such secondary, or it becomes primary and must end at once.</summary>
    /// <param name="endFollowing">Stops whatever else would claim or write checkpoints.</param>
    /// <param name="finish">Ends the process with what was found.</param>
    public bool TryBegin(string why, Coordinator diverged, AppPump? app, Action endFollowing, Action<int, string> finish)
    {
        if (diverged is not { HasLog: false, Execution.Digests.Diverged: { } stretch } || app is null
            || Interlocked.Exchange(ref _hasBegun, 1) != 0) return false;
        if (!monitor.TryForbid())
        {
            _hasBegun = 0;
            return false;
        }
        app.Hold();
        endFollowing();
        name.Dispose();
        RemoveDoubtful(diverged, inputs.Logger);
        var run = new DivergenceReplayRun(inputs, diverged, stretch, catalog, app.TurnTo);
        string WhatDiffers() => Look(() => run.Run(canExecute));
        PumpThread.Start("divergence replay", () => finish(ExitCodes.Divergence, $"{why} {WhatDiffers()}"), finish);
        return true;
    }

    /// <summary>
    /// Returns in words which of the last calls differ of a primary that has let no peer in yet, as far as the look finds it within its
    /// time, or an empty text. Meanwhile nothing of the primary gets out: its app is not read.
    /// </summary>
    public string LookAtCalls(Coordinator diverged)
    {
        if (diverged is not { HasLog: true, IsPrimary: false, Execution.Digests.Diverged: { } stretch }) return "";
        string found = "";
        var run = new DivergenceReplayRun(inputs, diverged, stretch, catalog, static (_, _) => { });
        Thread? look = Threads.TryStart("divergence look", () => found = run.LookAtCalls(), e => found = Failed(e));
        if (look is null || !look.Join(ReplicaPlace.HasOthers(inputs) ? s_replacedLookMax : s_lookMax)) return "";
        return $" The app was given the log from {stretch.From} to {stretch.To} since it last agreed. {found}";
    }

    /// <summary>Takes back the checkpoints that may hold the difference.</summary>
    public static void RemoveDoubtful(Coordinator? diverged, ILogger logger)
    {
        try
        {
            diverged?.Checkpoints.RemoveDoubtful();
        }
        catch (IOException e)
        {
            logger.CheckpointsRemained(e.Message);
        }
    }

    private static string Look(Func<string> look)
    {
        try
        {
            return look();
        }
        catch (Exception e)
        {
            return Failed(e);
        }
    }

    private static string Failed(Exception look) => $"A second look failed: {look.Message}";
}
