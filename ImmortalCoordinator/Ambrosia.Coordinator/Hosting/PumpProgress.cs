using System.Collections.Concurrent;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Knows at which piece of work each pump of a replica is, and for how long already, so that one that hangs is found by whoever looks,
/// without a file or a socket. A pump that waits, for something to do or for somebody else, is at no work. Any thread.
/// </summary>
public sealed class PumpProgress
{
    private readonly TimeProvider _time;
    private readonly ConcurrentDictionary<PumpWork, byte> _pumps = new();

    internal PumpProgress(TimeProvider time) => _time = time;

    /// <summary>Hears, on a pump's thread, that it begins a piece of work; null: nobody does. Tests hold pumps in it.</summary>
    internal Action<string>? Began { get; set; }

    /// <summary>Enters a pump, or a thread of one. It leaves when it is disposed of.</summary>
    internal PumpWork Enter(string name)
    {
        var pump = new PumpWork(name, this, _time);
        _pumps.TryAdd(pump, 0);
        return pump;
    }

    /// <summary>The pumps that have been at one piece of work for longer than this, and for how long, the longest first.</summary>
    public IReadOnlyList<(string Pump, TimeSpan Lasts)> LongerThan(TimeSpan limit)
    {
        var found = new List<(string Pump, TimeSpan Lasts)>();
        foreach ((PumpWork pump, _) in _pumps)
            if (pump.Lasts is { } lasts && lasts > limit) found.Add((pump.Name, lasts));
        found.Sort(static (one, other) => other.Lasts.CompareTo(one.Lasts));
        return found;
    }

    internal void Leave(PumpWork pump) => _pumps.TryRemove(pump, out _);
}

/// <summary>
/// Says since when one pump has been at its present piece of work. One thread at a time begins and ends; any thread asks.
/// </summary>
internal sealed class PumpWork(string name, PumpProgress among, TimeProvider time) : IDisposable
{
    /// <summary>Ticks of the clock when the work began; 0: it is at none.</summary>
    private long _since;

    internal string Name => name;

    internal TimeSpan? Lasts => Volatile.Read(ref _since) is var since && since == 0 ? null : time.GetElapsedTime(since);

    /// <summary>The pump has something to do, or has done a piece of it and goes on.</summary>
    internal void Begin()
    {
        Volatile.Write(ref _since, Math.Max(1, time.GetTimestamp()));
        among.Began?.Invoke(name);
    }

    /// <summary>The pump waits for something to do, or for somebody else.</summary>
    internal void End() => Volatile.Write(ref _since, 0);

    /// <summary>The pump has ended.</summary>
    public void Dispose() => among.Leave(this);
}
