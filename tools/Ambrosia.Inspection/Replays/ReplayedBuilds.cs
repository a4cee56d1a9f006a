using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Debugging;
using Ambrosia.Log.Cutting;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// The build that is tried and, if there is one, the build that it is held against: both execute the same messages and stop at the same
/// places, side by side, each in a view of its own. What they emit between two stops comes with the second. One thread at a time.
/// </summary>
internal sealed class ReplayedBuilds(ReplayOptions options, Lsn from, IFileSystem files, Action<string> tell) : IDisposable
{
    public ViewHost Now { get; } = Open(options, options.App, from, files, tell);

    /// <summary>Null: what was done is taken from logs.</summary>
    public ViewHost? Then { get; } = options.Old.Count > 0 ? Open(options, options.Old, from, files, tell) : null;

    /// <summary>Both have the same state as long as they do the same; false: there is one, or they are two versions.</summary>
    public bool HaveOneState => Then is not null && options.Upgrade is null;

    /// <summary>Everything below can be executed by both.</summary>
    public Lsn End => Then is { } then && then.End < Now.End ? then.End : Now.End;

    /// <summary>Starts both and executes everything before a place.</summary>
    /// <exception cref="MisuseException">One of them cannot.</exception>
    public Stops Begin(MessagePlace place, CancellationToken stop)
    {
        try
        {
            return Both(build => Begin(build, place, stop));
        }
        catch (ViewEndedException ended) when (ended.Code != ExitCodes.Damage)
        {
            throw new MisuseException($"the build of --app cannot begin at {place}", ended.Message,
                "begin with --from at a checkpoint that it can continue, or where nothing is suspended");
        }
    }

    /// <summary>Executes everything before a place.</summary>
    /// <exception cref="ViewEndedException">The build that is tried cannot.</exception>
    public Stops To(MessagePlace place, CancellationToken stop) => Both(build => build.To(place, stop));

    /// <summary>Executes one message.</summary>
    /// <exception cref="ViewEndedException">The build that is tried cannot.</exception>
    public Stops Next(CancellationToken stop) => Both(build => build.Next(stop));

    /// <summary>Compares what was emitted before two stops of one place, or before one with what receivers have.</summary>
    /// <param name="history">Of <see cref="OpenHistory"/>; null, where there is no other build: nothing can be compared.</param>
    /// <param name="within">Calls that are missing are looked for in so many bytes of each receiver's log; null: in all of it.</param>
    public StretchComparison Compare(in Stops stops, CallHistory? history, ulong? within = null) =>
        stops.Then is { } then ? StretchComparison.OfBuilds(then.Emitted, stops.Now.Emitted)
            : StretchComparison.WithReceivers(stops.Now, Now.CallsMade(), history, within);

    private static ViewHost Open(
        ReplayOptions options, IReadOnlyList<string> app, Lsn from, IFileSystem files, Action<string> tell) => new(
            new ViewOptions
            {
                LogDirectory = options.LogDirectory, App = app, IsQuiet = options.IsQuiet, Checkpoint = from, TellsDifferences = false,
                MeasuresHandlers = true,
            },
            files, new ToldWarnings(tell), tell);

    /// <summary>What comes before the place is not compared, so nothing of it is kept.</summary>
    private ViewStop Begin(ViewHost build, MessagePlace place, CancellationToken stop)
    {
        build.Start();
        if (options.Upgrade is { } upgrade && build == Now)
        {
            build.To(new MessagePlace(from, 0), stop);
            upgrade.GoOn(build, stop);
        }
        ViewStop begun = build.To(place, stop);
        build.KeepsEmissions = true;
        return begun;
    }

    private Stops Both(Func<ViewHost, ViewStop> step)
    {
        if (Then is not { } old) return new Stops(null, step(Now));
        Task<ViewStop> then = Task.Factory.StartNew(
            () => step(old), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        ViewStop now;
        try
        {
            now = step(Now);
        }
        finally
        {
            ((IAsyncResult)then).AsyncWaitHandle.WaitOne();
        }
        try
        {
            return new Stops(then.GetAwaiter().GetResult(), now);
        }
        catch (ViewEndedException ended) when (ended.Code != ExitCodes.Damage)
        {
            throw new MisuseException("the build of --old cannot execute this log", ended.Message,
                "give the build that executed it: 'ambrosia log DIR --kind build' names it");
        }
    }

    /// <summary>
    /// Returns what those who were called have in their logs, where there is no build to compare with; whoever takes it disposes of it.
    /// Null: there is a build, or the log is a masked cut, in which nobody has received what a build sends now.
    /// </summary>
    public CallHistory? OpenHistory() =>
        Then is null && !LogCut.IsMasked(files, options.LogDirectory) ? Now.OpenHistory(options.DirectoryOf) : null;

    public void Dispose()
    {
        Now.Dispose();
        Then?.Dispose();
    }
}

/// <summary>Says where the two have stopped.</summary>
/// <param name="Then">Null: there is one build only.</param>
internal readonly record struct Stops(ViewStop? Then, ViewStop Now);
