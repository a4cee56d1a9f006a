using System.Runtime.InteropServices;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Session;

/// <summary>
/// Adds up how long a view executes for each method (protocol P5.24), so that two builds can be compared. Messages of one method that stand
/// side by side are measured at once. Thread: the scheduler's.
/// </summary>
internal sealed class HandlerTimer(TimeProvider time)
{
    private readonly Dictionary<uint, (ulong Messages, TimeSpan Time)> _byMethod = [];
    private long _began;

    internal void Begin() => _began = time.GetTimestamp();

    /// <summary>What began last is executed.</summary>
    /// <param name="method">0: it is no message for a handler.</param>
    internal void End(uint method, uint messages)
    {
        TimeSpan passed = time.GetElapsedTime(_began);
        if (_byMethod.Count >= HandlerTime.RowsMax - 1 && !_byMethod.ContainsKey(method)) method = 0;
        ref (ulong Messages, TimeSpan Time) sum = ref CollectionsMarshal.GetValueRefOrAddDefault(_byMethod, method, out _);
        sum = (sum.Messages + messages, sum.Time + passed);
    }

    /// <summary>Returns what was added up since the last time, by method in ascending order.</summary>
    internal HandlerTime[] Take()
    {
        HandlerTime[] rows =
        [
            .. _byMethod.OrderBy(static each => each.Key).Select(static each =>
                new HandlerTime(each.Key, each.Value.Messages, (ulong)each.Value.Time.TotalNanoseconds)),
        ];
        _byMethod.Clear();
        return rows;
    }
}
