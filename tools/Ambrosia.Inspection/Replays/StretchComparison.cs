using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Hosting;
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
    private readonly SortedDictionary<string, ulong> _unknown = new(StringComparer.Ordinal);

    /// <summary>Calls, results and answers that were compared, the differing ones among them.</summary>
    public ulong Compared { get; private set; }

    /// <summary>
    /// So much to each of these was not compared, since what the receiver has is not known, or since it was more than is kept. The callers
    /// outside are the empty name.
    /// </summary>
    public IReadOnlyDictionary<string, ulong> Unknown => _unknown;

    /// <summary>The differences, by the records that may have made them.</summary>
    public IEnumerable<CallDifference> Differences => _differences.OrderBy(static each => each.NotBefore ?? Lsn.Zero);

    /// <summary>Compares two builds.</summary>
    public static StretchComparison OfBuilds(ViewedEmissions then, ViewedEmissions now)
    {
        var comparison = new StretchComparison();
        bool isWhole = then.Missing.Count == 0 && now.Missing.Count == 0;
        ILookup<InstanceId?, ViewedRun> thenOn = ByChannel(then), nowOn = ByChannel(now);
        foreach (InstanceId? to in thenOn.Concat(nowOn).Select(static channel => channel.Key).Distinct())
            comparison.Compare(to, new EmissionCursor([.. thenOn[to]]), new EmissionCursor([.. nowOn[to]]), isWhole);
        comparison.LeaveOut(now);
        return comparison;
    }

    /// <summary>Compares a build with what its receivers have in their logs.</summary>
    /// <param name="made">So many calls it has made to each receiver.</param>
    /// <param name="history">Null: nobody knows what they have.</param>
    /// <param name="within">Calls that are missing are looked for in so many bytes of each receiver's log; null: in all of it.</param>
    public static StretchComparison WithReceivers(
        ViewStop now, IReadOnlyDictionary<InstanceId, ulong> made, CallHistory? history, ulong? within)
    {
        var comparison = new StretchComparison();
        foreach (IGrouping<InstanceId?, ViewedRun> channel in ByChannel(now.Emitted))
        {
            if (channel.Key is { } receiver && history is not null) comparison.Compare(receiver, new EmissionCursor([.. channel]), history);
            else comparison.NotCompared(channel.Key?.ToString() ?? "", (ulong)channel.Sum(static run => run.Header.Count));
        }
        if (history is not null) comparison.CompareOverdue(made, now.Place.Record, history, within);
        comparison.LeaveOut(now.Emitted);
        return comparison;
    }

    /// <summary>Looks in all of the receivers' logs for calls that had to be made and were not.</summary>
    /// <param name="made">So many calls were made to each receiver.</param>
    /// <param name="executed">By the records below it.</param>
    public static StretchComparison OfOverdue(IReadOnlyDictionary<InstanceId, ulong> made, Lsn executed, CallHistory history)
    {
        var comparison = new StretchComparison();
        comparison.CompareOverdue(made, executed, history, within: null);
        return comparison;
    }

    private void CompareOverdue(IReadOnlyDictionary<InstanceId, ulong> made, Lsn executed, CallHistory history, ulong? within)
    {
        foreach ((InstanceId to, ulong number) in made) CompareOverdue(to, number + 1, executed, history, within);
    }

    /// <summary>A call that the receiver has, and that was made by records which are executed, must have been made by now.</summary>
    private void CompareOverdue(InstanceId to, ulong number, Lsn executed, CallHistory history, ulong? within)
    {
        if (_differences.Exists(each => each.To == to)
            || !history.TryFind(to, number, out MessageKind kind, out ReadOnlySpan<byte> then, out RunCause? cause, within)
            || cause is not { } records || records.Last >= executed) return;
        Compared++;
        _differences.Add(new CallDifference(to, number, new EmittedMessage(to, number, kind, then.ToArray(), records), null));
    }

    private void LeaveOut(ViewedEmissions now)
    {
        foreach ((string to, ulong count) in now.Missing) NotCompared(to, count);
    }

    private void NotCompared(string to, ulong count) => _unknown[to] = _unknown.GetValueOrDefault(to) + count;

    private static ILookup<InstanceId?, ViewedRun> ByChannel(ViewedEmissions emitted) => emitted.Runs.ToLookup(static run => run.To);

    private void Compare(InstanceId? to, EmissionCursor then, EmissionCursor now, bool isWhole)
    {
        while (then.Is && now.Is)
        {
            if (then.SkipSame(now) is > 0 and var same)
            {
                Compared += same;
                continue;
            }
            Compared++;
            bool isSame = then.HasSameReceiver(now) && then.Whole.SequenceEqual(now.Whole);
            if (!isSame && !Add(new CallDifference(to, now.Number, then.Message(), now.Message()))) return;
            then.Next();
            now.Next();
        }
        if (!isWhole) return; // what is left of the one may have been left out of the other
        if (then.Is) _differences.Add(new CallDifference(to, then.Number, then.Message(), null));
        if (now.Is) _differences.Add(new CallDifference(to, now.Number, null, now.Message()));
    }

    private void Compare(InstanceId to, EmissionCursor now, CallHistory history)
    {
        for (; now.Is; now.Next())
        {
            if (!history.TryFind(to, now.Number, out MessageKind kind, out ReadOnlySpan<byte> then, out RunCause? cause))
            {
                NotCompared($"{to}", 1);
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
