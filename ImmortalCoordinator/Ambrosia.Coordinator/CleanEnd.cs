using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator;

/// <summary>
/// Decides how a replica that is asked to stop leaves its log. A primary takes no more inputs and then a checkpoint, so that the next
/// start has nothing to execute again; where a standby moves and is near, it goes on instead. Without either the log is left with a
/// durable mark behind the last record, and a line. Before all that, callers outside may get the answers that they wait for, and bodies
/// of tasks that run may end. It waits for no peer. It never waits itself: a pump asks again until it is over. One thread.
/// </summary>
internal sealed class CleanEnd
{
    /// <summary>The mark is waited for so much longer than the checkpoint.</summary>
    private static readonly TimeSpan s_markMax = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Bodies of tasks that run may go on for so long, and no longer than a checkpoint is waited for: what they did to the world is done
    /// again otherwise.
    /// </summary>
    private static readonly TimeSpan s_bodiesMax = TimeSpan.FromSeconds(5);

    /// <summary>Behind the end of the last body its result is on its way.</summary>
    private static readonly TimeSpan s_resultMax = TimeSpan.FromMilliseconds(100);

    private readonly Coordinator _parts;
    private readonly CoordinatorInputs _inputs;
    private readonly TimeSpan _within;
    private readonly ILogger _logger;
    private bool _drains, _awaitsBodies, _awaitsCheckpoint;

    /// <summary>A standby that goes on is looked for; null: not yet, or no more.</summary>
    private SuccessorSearch? _search;

    /// <summary>A body ran at this time, counted as <see cref="Next"/> counts; null: none has since the end began.</summary>
    private TimeSpan? _bodyRan;

    /// <summary>Callers had their answers, bodies their end, and a standby was looked for by then; the rest counts from here.</summary>
    private TimeSpan _drained;

    /// <summary>Begins the end: inputs are refused from now on, or at first those of callers alone.</summary>
    public CleanEnd(Coordinator parts, CoordinatorInputs inputs)
    {
        (_parts, _inputs, _within, _logger) = (parts, inputs, inputs.Options.StopWithin, inputs.Logger);
        parts.RefuseCallers();
        _drains = inputs.Options.DrainWithin > TimeSpan.Zero && IsServing;
        if (!_drains) RefuseInputs();
    }

    private bool IsServing => _parts.IsPrimary && _parts.Sessions.Live is { IsPrimary: true };

    private void RefuseInputs()
    {
        _parts.RefuseInputs();
        _parts.Bodies.Drain();
        _awaitsBodies = IsServing;
    }

    /// <summary>Looks for a standby that goes on; true: the search is over, and a checkpoint is asked for where there is none.</summary>
    private bool HasSearched(SuccessorSearch search)
    {
        if (search.Look() is [var successor, ..])
        {
            _logger.HandedOver(successor);
            return true;
        }
        if (!search.IsOver) return false;
        if (search.HasSeenAny) _logger.NoneFollows(search.WhyNone);
        _awaitsCheckpoint = _parts.Checkpoints.AreAllowed;
        if (_awaitsCheckpoint) _parts.Checkpoints.RequestLast();
        else _logger.EndsWithoutCheckpoint("peers that this replica has called were not heard since its start, so that its state is not sure");
        return true;
    }

    /// <summary>Says what the pump is to do now.</summary>
    /// <param name="elapsed">Monotonic, since the stop was asked for.</param>
    public CleanEndStep Next(TimeSpan elapsed)
    {
        if (_drains)
        {
            if (elapsed < _inputs.Options.DrainWithin && IsServing && _parts.Clients.Table.OwesAnswers) return CleanEndStep.Wait;
            (_drains, _drained) = (false, elapsed);
            RefuseInputs();
        }
        if (_awaitsBodies)
        {
            if (AwaitsBodies(elapsed - _drained)) return CleanEndStep.Wait;
            (_awaitsBodies, _drained) = (false, elapsed);
            if (IsServing) _search = _parts.SearchSuccessors();
        }
        if (_search is { } search)
        {
            if (!HasSearched(search)) return CleanEndStep.Wait;
            (_search, _drained) = (null, elapsed);
        }
        elapsed -= _drained;
        if (_awaitsCheckpoint && _parts.Checkpoints.IsDue)
        {
            if (WhyNoneComes(elapsed) is not { } why) return CleanEndStep.Wait;
            _logger.EndsWithoutCheckpoint(why);
        }
        _awaitsCheckpoint = false;
        if (!_parts.HasLog || !_parts.Log.MarkDue || elapsed >= _within + s_markMax) return CleanEndStep.Over;
        return _parts.Log.AppendMark() ? CleanEndStep.Commit : CleanEndStep.Wait;
    }

    private bool AwaitsBodies(TimeSpan elapsed)
    {
        if (!IsServing || elapsed >= (_within < s_bodiesMax ? _within : s_bodiesMax)) return false;
        if (_parts.Bodies.AnyRuns) _bodyRan = elapsed;
        return _bodyRan is { } ran && elapsed - ran < s_resultMax;
    }

    /// <summary>Says why a checkpoint is waited for no longer; null: it is.</summary>
    private string? WhyNoneComes(TimeSpan elapsed)
    {
        if (_parts.AppWatch.Overdue is { } hangs) return hangs.Text;
        if (elapsed < _within) return null;
        string? why = _parts.Checkpoints.Trigger.Status.Why;
        return $"none was published within {_within.TotalSeconds:0.#} s{(why is null ? "" : $": {why}")}";
    }
}

/// <summary>Says what the pump of a stopping replica does before it asks again.</summary>
internal enum CleanEndStep
{
    /// <summary>It waits for a moment.</summary>
    Wait,

    /// <summary>It commits: the mark is appended.</summary>
    Commit,

    /// <summary>There is nothing more to wait for, and the process ends.</summary>
    Over,
}
