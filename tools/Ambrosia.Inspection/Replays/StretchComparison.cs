using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Replays;

/// <summary>
/// Compares what a build has emitted in a stretch of the log with what was emitted there before, call by call. On each channel it ends at
/// the first call behind which the two cannot be compared any more.
/// </summary>
internal sealed class StretchComparison
{
    private readonly List<CallDifference> _differences = [];
    private readonly SortedDictionary<InstanceId, ulong> _unknown = [];

    /// <summary>Calls, results and answers that were compared, the differing ones among them.</summary>
    public ulong Compared { get; private set; }

    /// <summary>So many calls to each of these were not compared, since what the receiver has is not known.</summary>
    public IReadOnlyDictionary<InstanceId, ulong> Unknown => _unknown;

    /// <summary>Answers to callers outside that were not compared.</summary>
    public ulong UnknownAnswers { get; private set; }

    /// <summary>The differences, by the records that may have made them.</summary>
    public IEnumerable<CallDifference> Differences => _differences.OrderBy(static each => each.NotBefore ?? Lsn.Zero);

    /// <summary>Compares what was emitted before two stops of one place, or before one with what receivers have.</summary>
    public static StretchComparison Of(in Stops stops, CallHistory? history) =>
        stops.Then is { } then ? OfBuilds(then.Emitted, stops.Now.Emitted) : WithReceivers(stops.Now.Emitted, history!);

    private static StretchComparison OfBuilds(ViewedEmissions then, ViewedEmissions now)
    {
        var comparison = new StretchComparison();
        foreach (InstanceId? to in then.Runs.Concat(now.Runs).Select(static run => run.To).Distinct())
            comparison.Compare(to, On(then, to), On(now, to));
        return comparison;
    }

    private static StretchComparison WithReceivers(ViewedEmissions now, CallHistory history)
    {
        var comparison = new StretchComparison();
        foreach (InstanceId? to in now.Runs.Select(static run => run.To).Distinct())
        {
            if (to is { } receiver) comparison.Compare(receiver, On(now, receiver), history);
            else comparison.UnknownAnswers += (ulong)now.Runs.Where(static run => run.To is null).Sum(static run => run.Header.Count);
        }
        return comparison;
    }

    private static EmissionCursor On(ViewedEmissions emitted, InstanceId? to) => new([.. emitted.Runs.Where(run => run.To == to)]);

    private void Compare(InstanceId? to, EmissionCursor then, EmissionCursor now)
    {
        while (then.Is && now.Is)
        {
            if (then.SkipSame(now) is > 0 and var same)
            {
                Compared += same;
                continue;
            }
            Compared++;
            if (then.HasSameReceiver(now) && then.Whole.SequenceEqual(now.Whole))
            {
                then.Next();
                now.Next();
            }
            else if (!Add(new CallDifference(to, now.Number, then.Message(), now.Message()))) return;
            else
            {
                then.Next();
                now.Next();
            }
        }
        if (then.Is) _differences.Add(new CallDifference(to, then.Number, then.Message(), null));
        if (now.Is) _differences.Add(new CallDifference(to, now.Number, null, now.Message()));
    }

    private void Compare(InstanceId to, EmissionCursor now, CallHistory history)
    {
        for (; now.Is; now.Next())
        {
            if (!history.TryFind(to, now.Number, out MessageKind kind, out ReadOnlySpan<byte> then, out RunCause? cause))
            {
                _unknown[to] = _unknown.GetValueOrDefault(to) + 1;
                continue;
            }
            Compared++;
            if (kind == now.Kind && then.SequenceEqual(now.Whole)) continue;
            var recorded = new EmittedMessage(to, now.Number, kind, then.ToArray(), cause);
            if (!Add(new CallDifference(to, now.Number, recorded, now.Message()))) return;
        }
    }

    /// <summary>Notes a difference; false: behind it nothing can be compared on this channel.</summary>
    private bool Add(CallDifference difference)
    {
        _differences.Add(difference);
        return difference.IsAligned;
    }
}
