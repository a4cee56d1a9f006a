namespace Ambrosia.Schedules.Strategies;

/// <summary>
/// Chooses by a seed. The seed also says how: evenly, rarely taking the turn away, or by priorities that change at a few steps, which finds
/// a fault of depth d with a known least probability. Successive schedules have successive seeds.
/// </summary>
public sealed class RandomStrategy(ulong firstSeed) : IStrategy
{
    private const int ThreadsMax = 64;

    private readonly int[] _priorities = new int[ThreadsMax];
    private readonly HashSet<int> _changes = [];
    private ulong _next = firstSeed;
    private ulong _state;
    private Manner _manner;
    private int _step, _lowest, _oddsOfSwitch;

    private enum Manner { Even, Sticky, Priorities, ManyPriorities }

    /// <summary>The seed of the schedule that was begun last.</summary>
    public ulong Seed { get; private set; }

    public bool Begin()
    {
        Seed = _next++;
        _state = Seed * 0x9E3779B97F4A7C15 + 0x1234567;
        _manner = (Manner)Below(4);
        _oddsOfSwitch = 2 << Below(5);
        (_step, _lowest) = (0, 0);
        for (int i = 0; i < ThreadsMax; i++) _priorities[i] = 1 + Below(1 << 20);
        _changes.Clear();
        int length = 16 << Below(5);
        for (int i = _manner == Manner.Priorities ? 1 + Below(3) : 8; i > 0; i--) _changes.Add(Below(length));
        return true;
    }

    public int Choose(ReadOnlySpan<Alternative> alternatives, int current)
    {
        _step++;
        if (_manner == Manner.Even) return Below(alternatives.Length);
        if (_manner == Manner.Sticky) return current >= 0 && Below(_oddsOfSwitch) != 0 ? current : Below(alternatives.Length);
        int best = Highest(alternatives);
        if (!_changes.Contains(_step)) return best;
        _priorities[alternatives[best].Thread % ThreadsMax] = --_lowest;
        return Highest(alternatives);
    }

    private int Highest(ReadOnlySpan<Alternative> alternatives)
    {
        int best = 0;
        for (int i = 1; i < alternatives.Length; i++)
            if (PriorityOf(alternatives[i]) > PriorityOf(alternatives[best])) best = i;
        return best;
    }

    private int PriorityOf(Alternative of) => of.IsTimeout ? int.MinValue : _priorities[of.Thread % ThreadsMax];

    /// <summary>Draws a number by SplitMix64.</summary>
    private int Below(int limit)
    {
        _state += 0x9E3779B97F4A7C15;
        ulong z = _state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return (int)((z ^ (z >> 31)) % (ulong)limit);
    }
}
