using System.Diagnostics;
using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Examines a secondary whose app has diverged, on its way out: it says which call differs, and lets a new app execute the stretch again,
/// record by record, to say which record makes it. The replica can claim and publish nothing any more. One thread runs it, and waits.
/// </summary>
/// <param name="diverged">Its session ends; nobody else drives it.</param>
/// <param name="turnTo">New connections of the app go to this replica, and what ends it is said there.</param>
internal sealed class DivergenceReplayRun(
    CoordinatorInputs inputs, Coordinator diverged, DivergedStretch stretch, ICatalog catalog,
    Action<Coordinator, Action<int, string>> turnTo)
{
    /// <summary>The app has this long to come again, and then to get on.</summary>
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    /// <summary>The whole replay has this long.</summary>
    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(2);

    private readonly ManualResetEventSlim _ended = new(false);
    private (int Code, string Why) _end;

    /// <summary>Returns what was found, as sentences.</summary>
    /// <param name="canExecute">An app may come again.</param>
    public string Run(bool canExecute)
    {
        long begun = Stopwatch.GetTimestamp();
        while (diverged.Sessions.Live is not null && Stopwatch.GetElapsedTime(begun) < s_patience) Thread.Sleep(1);
        string first = LookAtCalls();
        if (!canExecute) return first;
        string again = Again();
        return IsNamed ? again : $"{first} {again}"; // what is held still may differ only because of calls before it
    }

    /// <summary>Says which of the calls that are still held differ, without executing anything.</summary>
    public string LookAtCalls()
    {
        using CallHistory history = NewHistory();
        List<string> found = diverged.Execution.LookAtCalls(stretch, history);
        return found.Count > 0 ? $"What differs among the last calls: {string.Join("; ", found)}."
            : "Which call differs is not known from the logs of those who were called.";
    }

    private string Again()
    {
        var follower = new LogFollower(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        while (follower.Stated < diverged.Durable && follower.Step()) { } // the digest of the stretch's end stands behind it
        if (follower.Stated < stretch.To) return $"The log up to {stretch.To} cannot be read again.";
        inputs.Logger.DivergenceReplayed(stretch.From, stretch.To);
        var replay = new DivergenceReplay(stretch.From, NewHistory());
        // its history lives on: who reads the app may still ask it
        var again = new Coordinator(inputs, follower, replay);
        replay.Agreed = () => again.Execution.Digests.Confirmed;
        again.Checkpoints.Pipeline.Forbid();
        turnTo(again, Ended);
        return Await(again);
    }

    private void Ended(int code, string why)
    {
        if (_ended.IsSet) return;
        _end = (code, why);
        _ended.Set();
    }

    private string Await(Coordinator again)
    {
        long begun = Stopwatch.GetTimestamp(), moved = begun;
        Lsn last = Lsn.Zero;
        while (!_ended.Wait(20))
        {
            Lsn executed = again.Execution.Progress.Processed;
            if (again.Sessions.Live is not null && executed >= stretch.To && again.Execution.Digests.Confirmed >= stretch.To)
                return "Executed again, the app made the calls of the log: it does not even do the same from one execution to the next.";
            if (executed >= stretch.To && again.Execution.IsCaughtUp)
                return "Executed again, the app made no call that is known to be another.";
            if (executed != last) (last, moved) = (executed, Stopwatch.GetTimestamp());
            if (Stopwatch.GetElapsedTime(moved) > s_patience || Stopwatch.GetElapsedTime(begun) > s_longest)
                return again.Sessions.Live is null ? "No app came to execute the stretch again."
                    : $"Executed again, the app did not get beyond {last} in time.";
        }
        return IsNamed ? $"By the record: {_end.Why}." : _end.Code == ExitCodes.Damage
            ? $"The stretch cannot be executed again; a longer --retain keeps what that needs: {_end.Why}"
            : _end.Code != ExitCodes.Divergence ? $"Executing the stretch again ended with {_end.Code}: {_end.Why}"
            : $"Executed again, it differed too, behind the record at Lsn {again.Execution.Progress.Processed}: {_end.Why}";
    }

    private bool IsNamed => _ended.IsSet && _end.Why.StartsWith(DivergenceReplay.Found, StringComparison.Ordinal);

    private CallHistory NewHistory() => diverged.OpenHistory(instance => DirectoryOf(catalog, instance));

    /// <summary>Returns where the log of an instance is; null: the catalog does not say it.</summary>
    internal static string? DirectoryOf(ICatalog catalog, InstanceId instance)
    {
        try
        {
            return catalog.Find(instance)?.LogPath;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CatalogException)
        {
            return null;
        }
    }
}
