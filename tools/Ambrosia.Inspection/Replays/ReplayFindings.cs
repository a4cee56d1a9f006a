using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Gathers what a replay compares and finds, in the words of its report. It owns the differences, and what was not compared yet: a digest
/// behind it may still cover that. One thread.
/// </summary>
internal sealed class ReplayFindings(PlaceFinder places, MessageFormatter text)
{
    private readonly List<ReplayDifference> _differences = [];

    /// <summary>
    /// It counts what was compared with nothing: how much went to whom before which position. The callers outside are the empty name.
    /// </summary>
    private readonly Queue<(Lsn Before, string To, ulong Count)> _open = new();

    private readonly HandlerTimings _timings = new();

    private ulong _compared;
    private int _states;
    private string? _ended;

    /// <summary>The last place at which the states were compared and are equal; null: none was.</summary>
    public MessagePlace? StatesAgreed { get; private set; }

    /// <summary>A difference was found.</summary>
    public bool HasAny => _differences.Count > 0;

    /// <summary>It ends here.</summary>
    /// <param name="stopAt">It was to end at this difference.</param>
    public bool IsOver(int stopAt) => _ended is not null || _differences.Count >= stopAt;

    /// <summary>So much of the log is to be executed next.</summary>
    public StretchLength Stretch { get; } = new();

    /// <summary>The builds have executed a stretch.</summary>
    public void Executed(in Stops stops)
    {
        _timings.Add(stops);
        Stretch.Executed(stops.Now.Emitted);
    }

    /// <summary>A stretch was compared.</summary>
    /// <param name="end">It ends here.</param>
    public void Compared(StretchComparison stretch, Lsn end)
    {
        _compared += stretch.Compared;
        foreach ((string to, ulong count) in stretch.Unknown) _open.Enqueue((end, to, count));
    }

    /// <summary>The log's digests say that all that was emitted below a position is what was emitted then.</summary>
    public void Confirmed(Lsn position)
    {
        while (_open.TryPeek(out var first) && first.Before <= position) _open.Dequeue();
    }

    /// <summary>The states were compared and are equal.</summary>
    public void StatesAgree(MessagePlace at)
    {
        _states++;
        StatesAgreed = at;
    }

    /// <summary>A message was found that makes a difference.</summary>
    public void Differs(LocatedDifference found)
    {
        if (found.Call is null) _states++;
        string at = found.CallAt is { } later ? $", at {later}" : "";
        string now = found.Call is null ? "another state" : found.Call.Now?.Describe(text) ?? "nothing";
        Add(found.Place, found.IsExact, found.Call?.Then is { } then ? then.Describe(text) + at : null, now + at, found.State);
        if (found.Call is { IsAligned: false } call)
            _ended = $"the answers that were recorded behind it belong to other calls than {call.To?.ToString() ?? "callers outside"} is sent now";
    }

    /// <summary>A digest of the log says that something else was emitted, and no call was found that differs.</summary>
    public void DigestDiffers(Lsn agreed, Lsn differed)
    {
        if (HasAny) return; // every digest behind a difference differs
        Add(new MessagePlace(agreed, 0), false, $"calls and answers whose hash is recorded at {differed}",
            "calls and answers of another hash", []);
        _ended = "which call differs can be seen with --old, or where the logs of those who were called are known (--catalog, --peer)";
    }

    /// <summary>The state of a checkpoint is another.</summary>
    public void StateDiffers(MessagePlace agreed, MessagePlace at, IReadOnlyList<string> lines)
    {
        _states++;
        Add(agreed, false, null, $"another state at {at}", lines);
        _ended = "which message changes the state can be seen with --old";
    }

    /// <summary>The state of the new version was held against what becomes of the old one's at the same place.</summary>
    /// <param name="lines">What differs; none: they are equal.</param>
    public void VersionsCompared(MessagePlace at, IReadOnlyList<string> lines)
    {
        if (lines.Count == 0)
        {
            StatesAgree(at);
            return;
        }
        _states++;
        Add(StatesAgreed ?? default, false, null, $"another state at {at} than what becomes of the old one there", lines);
        _ended = "the two versions have done something else on the way";
    }

    /// <summary>What a cut says of then was compared: the state behind its message, and all that was emitted.</summary>
    /// <param name="lines">What differs; none: it is alike.</param>
    public void CutCompared(MessagePlace at, IReadOnlyList<string> lines)
    {
        if (lines.Count == 0)
        {
            StatesAgree(at);
            Confirmed(at.Record);
            return;
        }
        _states++;
        Add(StatesAgreed ?? default, false, null, $"something else up to {at} than the cut says of then", lines);
        _ended = "which message makes the difference can be seen with --old";
    }

    /// <summary>The build that is tried did not get through a stretch.</summary>
    /// <param name="found">The first difference, or the message that it does not survive.</param>
    public void Ended(LocatedDifference found, string why)
    {
        if (found.Call is not null) Differs(found);
        else Add(found.Place, found.IsExact, null, found.State.Count > 0 ? $"another state, and later: {why}" : why, found.State);
        _ended ??= why;
    }

    /// <summary>Completes a report, in which what the replay itself knows stands already.</summary>
    public ReplayReport Complete(ReplayReport report)
    {
        var open = new SortedDictionary<string, ulong>(StringComparer.Ordinal);
        foreach ((_, string to, ulong count) in _open) open[to] = open.GetValueOrDefault(to) + count;
        return report with
        {
            CallsCompared = _compared, StatesCompared = _states, Differences = _differences, NotCompared = open,
            Timings = _timings.Rows(text), EndedBecause = _ended,
        };
    }

    private void Add(MessagePlace place, bool isExact, string? then, string now, IReadOnlyList<string> state)
    {
        FoundPlace found = isExact ? places.NextExecuted(place) : places.AtOrBehind(place);
        _differences.Add(
            new ReplayDifference(isExact ? found.Place : place, isExact, $"{found}", then, now) { State = state });
    }
}
