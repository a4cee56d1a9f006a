using System.Diagnostics;
using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using CRA.Catalog;
using CRA.Links;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Notes where the app of this replica died, and where the replica diverged, when that has happened, and lets somebody say which message it
/// is. It owns the files (<see cref="IncidentFiles"/>) and what was found out about the last death. The supervisor's thread, or whichever
/// ends the process.
/// </summary>
/// <param name="explain">Null: the place alone is known.</param>
internal sealed class IncidentJournal(CoordinatorInputs inputs, Coordinator parts, ICatalog catalog, IncidentExplainer? explain)
{
    /// <summary>What a dead app has sent is read to its end before its place is final, which takes no longer than this.</summary>
    private static readonly TimeSpan s_readMax = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The message is looked for no longer than this. A replica that is about to be primary, whose place another one may take, ends sooner.
    /// </summary>
    private static readonly TimeSpan s_searchMax = TimeSpan.FromSeconds(30), s_primarySearchMax = TimeSpan.FromSeconds(5);

    /// <summary>The last death; null: none, or there was nothing to look at.</summary>
    private Incident? _death;

    /// <summary>The message at which an app of this process has died that did not get past it; null: none was found.</summary>
    private MessagePlace? _found;

    /// <summary>
    /// The app's process has ended with this code, or 128 and a signal. Where it had executed all that it was given, or its end says that
    /// its coordinator or its operator is at work, there is nothing to look at.
    /// </summary>
    public void Died(int code)
    {
        _death = null;
        if (code is ExitCodes.Ok or ExitCodes.Misuse or ExitCodes.Divergence or ExitCodes.Io) return;
        long begun = Stopwatch.GetTimestamp();
        while (parts.Sessions.Live is not null && Stopwatch.GetElapsedTime(begun) < s_readMax) Thread.Sleep(1);
        if (parts.Execution.Progress.IsDry) return;
        ExecutingPlace at = _found is { } found && parts.Execution.Progress.Processed <= found.Record
            ? new ExecutingPlace(found.Record, found.Index) : parts.Execution.Progress.Executing;
        Write(_death = New(at) with { ExitCode = code });
    }

    /// <summary>The app dies at one record again and again, or the process ends with it: says which message it is.</summary>
    public void TellDeath(CancellationToken stop)
    {
        if (_death is not { } death || Explained(death, s_searchMax, stop) is not { } said) return;
        if (said.IsExact)
        {
            _found = said.Place;
            Write(_death = At(death, said.Place));
        }
        Tell(said);
    }

    /// <summary>The replica ends because its app has done something else than the log says; says at which message.</summary>
    /// <param name="why">The line with which it ends.</param>
    public void Diverged(string why)
    {
        DivergedStretch? calls = parts.Execution.Digests.Diverged;
        (Lsn From, Lsn To)? state = calls is null ? parts.Checkpoints.StateDiverged : null;
        (Lsn From, Lsn To)? stretch = calls is null ? state : (calls.From, calls.To);
        // What the app executes by now is behind the difference, wherever that is.
        ExecutingPlace at = DivergenceReplay.RecordIn(why) is { } found ? new ExecutingPlace(found, null)
            : stretch is { } since ? new ExecutingPlace(since.From, null) : parts.Execution.Progress.Executing;
        Incident divergence = New(at) with
        {
            From = stretch?.From.Value, To = stretch?.To.Value, IsOfState = state is not null, Why = why,
        };
        Write(divergence);
        TimeSpan limit = parts.HasLog && ReplicaPlace.HasOthers(inputs) ? s_primarySearchMax : s_searchMax;
        if (Explained(divergence, limit, CancellationToken.None) is not { } said) return;
        if (said.IsExact) Write(At(divergence, said.Place));
        Tell(said);
    }

    /// <summary>Waits on a thread of its own, since what reads a large log cannot be told to end everywhere.</summary>
    private ExplainedIncident? Explained(Incident incident, TimeSpan limit, CancellationToken stop)
    {
        if (explain is null) return null;
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(stop);
        giveUp.CancelAfter(limit);
        CancellationToken until = giveUp.Token;
        if (inputs.Options.App.Count > 0) inputs.Logger.IncidentSearched(incident.From ?? incident.Place, limit.TotalSeconds);
        ExplainedIncident? said = null;
        // Where the search fails, for whatever reason, the line names the place alone.
        Thread? thread = Threads.TryStart("incident",
            () => said = explain(incident, instance => DivergenceReplayRun.DirectoryOf(catalog, instance), until), static _ => { });
        return thread?.Join(limit + s_readMax) == true ? said : null;
    }

    private void Tell(ExplainedIncident said) => inputs.Logger.IncidentExplained(said.Text, $"{said.Place}", said.Command);

    private Incident New(ExecutingPlace at) => new(
        inputs.Options.Replica, (inputs.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond,
        parts.Execution.Delivery.Versions.Runs, at.At.Value, at.Index)
    {
        Build = parts.Execution.Delivery.Build?.ToString(),
    };

    private static Incident At(Incident incident, MessagePlace message) =>
        incident with { Place = message.Record.Value, Index = message.Index };

    private void Write(Incident incident) => IncidentFiles.Write(inputs.Files, inputs.Options.LogDirectory, parts.Epoch, incident);
}
