namespace Ambrosia.Schedules.Strategies;

/// <summary>
/// Goes through all schedules with at most so many preemptions, depth first. A preemption takes the turn from a thread that could go on;
/// where a thread waits or is over, every successor is tried at no charge. Most faults need one or two.
/// </summary>
public sealed class ExhaustiveStrategy(int preemptionsMax) : IStrategy
{
    private readonly List<Branch> _path = [];
    private int _depth;
    private int _preemptions;
    private bool _hasBegun;

    public bool Begin()
    {
        if (_hasBegun && !Advance()) return false;
        (_hasBegun, _depth, _preemptions) = (true, 0, 0);
        return true;
    }

    /// <summary>Goes back to the last branch with an alternative that was not tried.</summary>
    private bool Advance()
    {
        while (_path.Count > 0)
        {
            Branch last = _path[^1];
            bool mayPreempt = !last.IsPreemption || last.PreemptionsBefore < preemptionsMax;
            if (last.Taken + 1 < last.Count && mayPreempt)
            {
                _path[^1] = last with { Taken = last.Taken + 1 };
                return true;
            }
            _path.RemoveAt(_path.Count - 1);
        }
        return false;
    }

    public int Choose(ReadOnlySpan<Alternative> alternatives, int current)
    {
        if (_depth == _path.Count) _path.Add(new Branch(alternatives.Length, 0, current >= 0, _preemptions));
        Branch branch = _path[_depth++];
        if (branch.Count != alternatives.Length || branch.IsPreemption != current >= 0)
            throw new InvalidOperationException("the same choices led to another state: the world depends on something else");
        if (branch.IsPreemption && branch.Taken > 0) _preemptions++;
        // The thread that runs is the first alternative, the others follow in their order.
        if (current < 0) return branch.Taken;
        return branch.Taken == 0 ? current : branch.Taken <= current ? branch.Taken - 1 : branch.Taken;
    }

    private readonly record struct Branch(int Count, int Taken, bool IsPreemption, int PreemptionsBefore);
}
