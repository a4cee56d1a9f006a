using System.Collections.Concurrent;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Knows at which piece of work each pump of a replica is, and for how long already, so that one that hangs is found by whoever looks,
/// without a file or a socket. A pump that waits for something to do is at no work. Any thread.
/// </summary>
public sealed class PumpProgress
{
    private readonly TimeProvider _time;
    private readonly ConcurrentBag<PumpWork> _pumps = [];

    internal PumpProgress(TimeProvider time) => _time = time;

    /// <summary>The pump that has been at one piece of work for longest, and for how long; null: all have nothing to do.</summary>
    public (string Pump, TimeSpan Lasts)? Longest
    {
        get
        {
            (string Pump, TimeSpan Lasts)? longest = null;
            foreach (PumpWork pump in _pumps)
                if (pump.Lasts(_time) is { } lasts && !(lasts < longest?.Lasts)) longest = (pump.Name, lasts);
            return longest;
        }
    }

    /// <summary>Enters a pump, or a thread of one.</summary>
    internal PumpWork Enter(string name)
    {
        var pump = new PumpWork(name, _time);
        _pumps.Add(pump);
        return pump;
    }
}

/// <summary>Says since when one pump has been at its present piece of work. The pump's thread begins and ends; any thread asks.</summary>
internal sealed class PumpWork(string name, TimeProvider time)
{
    /// <summary>Ticks of the clock when the work began; 0: it is at none.</summary>
    private long _since;

    internal string Name => name;

    /// <summary>The pump has something to do, or has done a piece of it and goes on.</summary>
    internal void Begin() => Volatile.Write(ref _since, Math.Max(1, time.GetTimestamp()));

    /// <summary>The pump waits for something to do.</summary>
    internal void End() => Volatile.Write(ref _since, 0);

    internal TimeSpan? Lasts(TimeProvider clock) =>
        Volatile.Read(ref _since) is var since && since == 0 ? null : clock.GetElapsedTime(since);
}
