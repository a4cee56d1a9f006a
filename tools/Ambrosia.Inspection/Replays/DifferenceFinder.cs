using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Finds the message behind which two executions differ: it lets the builds begin anew and execute the stretch in smaller and smaller
/// steps. What it finds is a place before which both did the same. One thread.
/// </summary>
/// <param name="open">Lets the builds begin anew, each in a process of its own.</param>
internal sealed class DifferenceFinder(Func<ReplayedBuilds> open)
{
    /// <summary>A stretch in which states differ is cut into so many pieces.</summary>
    private const int Pieces = 32;

    /// <summary>
    /// One in which calls differ is cut into no more than so many: where calls are compared a piece costs little, and a start costs much.
    /// </summary>
    private const ulong PiecesOfCalls = 256;

    /// <summary>A stretch of so many bytes is executed message by message.</summary>
    private const ulong StepBytes = 8 * 1024;

    /// <summary>Finds the message that makes a call, leaves it out or makes another one.</summary>
    /// <param name="from">
    /// The calls before it were the same. One that is missing may have been due before it, if its receiver says since when.
    /// </param>
    /// <param name="until">A place behind it.</param>
    public LocatedDifference Call(CallDifference difference, MessagePlace from, MessagePlace until, CancellationToken stop)
    {
        if (difference.NotBefore is { } lower && (lower > from.Record || (difference.Now is null && lower < from.Record)))
            from = new MessagePlace(lower, 0);
        (MessagePlace begin, until) = PieceOf(difference, from, until, stop);
        using ReplayedBuilds builds = open();
        foreach ((MessagePlace at, Stops next) in Messages(builds, builds.Begin(begin, stop).Now.Place, until, stop))
        {
            if (MadeIn(builds, next, difference) is { } made)
                return new LocatedDifference(at, IsExact: true, made, builds.Then is null ? [] : StateComparison.Lines(builds, stop));
            // The call that was recorded here has not been made by the messages that had to make it.
            if (builds.Then is null && difference.Then?.Cause is { } cause && next.Now.Place.Record > cause.Last) break;
        }
        return new LocatedDifference(from, IsExact: false, difference, []);
    }

    /// <summary>
    /// Finds the piece of a stretch that makes the difference: executed message by message, the whole would take many times as long. A call
    /// that is missing shows in no piece, and behind the records that had to make it nothing is looked for.
    /// </summary>
    private (MessagePlace From, MessagePlace Until) PieceOf(
        CallDifference difference, MessagePlace from, MessagePlace until, CancellationToken stop)
    {
        while (difference.Now is not null && until.Record.Value - from.Record.Value is > StepBytes and var bytes)
        {
            using ReplayedBuilds builds = open();
            MessagePlace lower = builds.Begin(from, stop).Now.Place, upper = until;
            foreach (Stops stops in Steps(builds, lower, until, Math.Max(StepBytes, bytes / PiecesOfCalls), stop))
            {
                bool isMade = MadeIn(builds, stops, difference) is not null;
                if (isMade) upper = stops.Now.Place;
                else lower = stops.Now.Place;
                if (isMade) break;
            }
            if (lower == from && upper == until) break; // what is between is one record
            (from, until) = (lower, upper);
        }
        return (from, until);
    }

    /// <summary>What was emitted before a stop makes this difference; null: it does not.</summary>
    private static CallDifference? MadeIn(ReplayedBuilds builds, in Stops stops, CallDifference difference) =>
        builds.Then is null ? IsAt(difference, stops.Now) ? difference : null
            : builds.Compare(stops, null).Differences.FirstOrDefault(each => IsSame(each, difference));

    /// <summary>
    /// Finds the message that changed the state before a call of two builds shows it; null: the states were equal where the call was made.
    /// </summary>
    /// <param name="agreed">Here the states are equal.</param>
    public LocatedDifference? Origin(LocatedDifference call, MessagePlace agreed, CancellationToken stop)
    {
        if (call.Place.CompareTo(agreed) <= 0) return null; // such as the log's beginning, where there is no state
        using (ReplayedBuilds builds = open())
        {
            builds.Begin(call.Place, stop);
            if (StateComparison.Lines(builds, stop).Count == 0) return null;
        }
        LocatedDifference state = State(agreed, call.Place, stop);
        return state with { Call = call.Call, CallAt = call.Place };
    }

    /// <summary>
    /// Finds the first difference in a stretch which the build that is tried does not get through, or the message that it does not survive.
    /// </summary>
    public LocatedDifference End(MessagePlace from, MessagePlace until, CancellationToken stop)
    {
        MessagePlace lower = EndingPiece(from, until, stop, out CallDifference? difference, out MessagePlace upper);
        if (difference is not null) return Call(difference, lower, upper, stop);
        using ReplayedBuilds builds = open();
        MessagePlace at = builds.Begin(lower, stop).Now.Place;
        using CallHistory? history = builds.OpenHistory();
        try
        {
            foreach ((_, Stops next) in Messages(builds, at, until, stop))
            {
                if (builds.Compare(next, history).Differences.FirstOrDefault() is { } made)
                    return new LocatedDifference(at, IsExact: true, made, StateComparison.Lines(builds, stop));
                at = next.Now.Place;
            }
        }
        catch (ViewEndedException ended) when (ended.Code != ExitCodes.Damage)
        {
            return new LocatedDifference(at, IsExact: true, null, []);
        }
        return new LocatedDifference(lower, IsExact: false, null, []); // the second time it got through
    }

    private MessagePlace EndingPiece(
        MessagePlace from, MessagePlace until, CancellationToken stop, out CallDifference? difference, out MessagePlace upper)
    {
        difference = null;
        upper = until;
        using ReplayedBuilds builds = open();
        MessagePlace lower = builds.Begin(from, stop).Now.Place;
        using CallHistory? history = builds.OpenHistory();
        try
        {
            foreach (Stops stops in InPieces(builds, lower, until, stop))
            {
                difference = builds.Compare(stops, history).Differences.FirstOrDefault();
                upper = stops.Now.Place;
                if (difference is not null || upper.CompareTo(until) >= 0) return lower;
                lower = upper;
            }
        }
        catch (ViewEndedException ended) when (ended.Code != ExitCodes.Damage)
        {
            upper = until;
        }
        return lower;
    }

    /// <summary>Finds the message behind which the states of two builds differ.</summary>
    /// <param name="from">Here they are equal.</param>
    /// <param name="until">Here they differ.</param>
    public LocatedDifference State(MessagePlace from, MessagePlace until, CancellationToken stop)
    {
        while (until.Record.Value - from.Record.Value > StepBytes)
        {
            (MessagePlace lower, MessagePlace upper) = Narrow(from, until, stop);
            if (lower == from && upper == until) break; // what is between is one record
            (from, until) = (lower, upper);
        }
        using ReplayedBuilds builds = open();
        foreach ((MessagePlace at, _) in Messages(builds, builds.Begin(from, stop).Now.Place, until, stop))
            if (StateComparison.Lines(builds, stop) is { Count: > 0 } lines) return new LocatedDifference(at, IsExact: true, null, lines);
        return new LocatedDifference(from, IsExact: false, null, StateComparison.Lines(builds, stop));
    }

    private (MessagePlace From, MessagePlace Until) Narrow(MessagePlace from, MessagePlace until, CancellationToken stop)
    {
        using ReplayedBuilds builds = open();
        MessagePlace lower = builds.Begin(from, stop).Now.Place;
        foreach (Stops stops in InPieces(builds, lower, until, stop))
        {
            MessagePlace at = stops.Now.Place;
            if (at.CompareTo(until) >= 0) break;
            if (StateComparison.Lines(builds, stop).Count > 0) return (lower, at);
            lower = at;
        }
        return (lower, until);
    }

    /// <summary>
    /// Executes one message after another from where the builds stand: each with its place, and where they have stopped behind it.
    /// </summary>
    private static IEnumerable<(MessagePlace At, Stops Next)> Messages(
        ReplayedBuilds builds, MessagePlace at, MessagePlace until, CancellationToken stop)
    {
        while (at.CompareTo(until) < 0)
        {
            Stops next = builds.Next(stop);
            yield return (at, next);
            if (next.Now.Place == at || next.Now.IsEnd) yield break;
            at = next.Now.Place;
        }
    }

    /// <summary>Executes what is between two places in pieces, but for the last one.</summary>
    private static IEnumerable<Stops> InPieces(ReplayedBuilds builds, MessagePlace from, MessagePlace until, CancellationToken stop) =>
        Steps(builds, from, until, Math.Max((until.Record.Value - from.Record.Value) / Pieces, 1), stop);

    private static IEnumerable<Stops> Steps(
        ReplayedBuilds builds, MessagePlace from, MessagePlace until, ulong step, CancellationToken stop)
    {
        for (ulong next = from.Record.Value + step; next < until.Record.Value; next += step)
            yield return builds.To(new MessagePlace(new Lsn(next), 0), stop);
    }

    private static bool IsAt(CallDifference difference, ViewStop stop) =>
        stop.Emitted.Runs.Any(run => run.To == difference.To && run.First <= difference.Number
            && difference.Number < run.First + run.Header.Count);

    private static bool IsSame(CallDifference found, CallDifference wanted) =>
        found.To == wanted.To && (found.Number == wanted.Number || !found.IsAligned);
}

/// <summary>Says where a difference was found.</summary>
/// <param name="IsExact">The message at the place makes it; false: it, or one of those behind it.</param>
/// <param name="Call">Null: only the states differ.</param>
/// <param name="State">The values that differ behind the message.</param>
internal sealed record LocatedDifference(MessagePlace Place, bool IsExact, CallDifference? Call, IReadOnlyList<string> State)
{
    /// <summary>The call differs at this place, and the states since the other one; null: it is one place.</summary>
    public MessagePlace? CallAt { get; init; }
}
