namespace Ambrosia.Schedules.Strategies;

/// <summary>Repeats a schedule as it was printed. Behind its end threads go on for as long as they can.</summary>
public sealed class ReplayStrategy(IReadOnlyList<Alternative> choices) : IStrategy
{
    private int _at;
    private bool _hasBegun;

    public bool Begin()
    {
        if (_hasBegun) return false;
        return _hasBegun = true;
    }

    public int Choose(ReadOnlySpan<Alternative> alternatives, int current)
    {
        if (_at == choices.Count) return Math.Max(0, current);
        Alternative wanted = choices[_at++];
        int index = alternatives.IndexOf(wanted);
        return index >= 0 ? index
            : throw new ArgumentException($"choice {_at} of the schedule is {wanted}, which cannot be there: it is of another build");
    }
}
