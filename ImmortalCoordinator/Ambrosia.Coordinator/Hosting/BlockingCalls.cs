using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Knows the calls under way that may block for as long as somebody else likes, such as those to a catalog on a mount that hangs. It owns
/// what operators were told: one event when a kind of call has lasted beyond its deadline, and one when that is over. No call is ended by
/// it. Any thread may call; one thread ticks.
/// </summary>
internal sealed class BlockingCalls(TimeProvider time, ILogger logger)
{
    /// <summary>Whatever answers at all answers within this time.</summary>
    internal static readonly TimeSpan Deadline = TimeSpan.FromSeconds(5);

    private readonly RankedLock _gate = new(LockRank.BlockingCalls);

    /// <summary>The calls under way: of what kind, and since which timestamp. Guarded by the lock.</summary>
    private readonly List<(string What, long Begun)> _underWay = [];

    /// <summary>The kinds of which operators know that they hang. Guarded by the lock.</summary>
    private readonly HashSet<string> _told = [];
    private volatile int _count;

    /// <summary>Makes a call of this kind, on the calling thread.</summary>
    public T Make<T>(string what, Func<T> call)
    {
        (string What, long Begun) made = (what, time.GetTimestamp());
        using (_gate.Enter())
        {
            _underWay.Add(made);
            _count = _underWay.Count;
        }
        try
        {
            return call();
        }
        finally
        {
            End(made);
        }
    }

    private void End((string What, long Begun) made)
    {
        bool isOver;
        using (_gate.Enter())
        {
            _underWay.Remove(made);
            _count = _underWay.Count;
            isOver = _told.Contains(made.What) && !_underWay.Exists(call => call.What == made.What && IsLate(call.Begun))
                && _told.Remove(made.What);
        }
        if (isOver) logger.CallEnded(made.What, time.GetElapsedTime(made.Begun).TotalSeconds);
    }

    /// <summary>Tells of the kinds of which a call has passed its deadline.</summary>
    public void Tick()
    {
        if (_count == 0) return;
        string[] late;
        using (_gate.Enter()) late = [.. _underWay.Where(call => IsLate(call.Begun)).Select(static call => call.What).Where(_told.Add)];
        foreach (string what in late) logger.CallHangs(what, Deadline.TotalSeconds);
    }

    private bool IsLate(long begun) => time.GetElapsedTime(begun) >= Deadline;
}
