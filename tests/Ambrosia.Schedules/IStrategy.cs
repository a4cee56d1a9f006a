namespace Ambrosia.Schedules;

/// <summary>Chooses the next schedule, one step after another.</summary>
public interface IStrategy
{
    /// <summary>Begins the next schedule; false: there is none.</summary>
    bool Begin();

    /// <summary>Chooses one of two or more alternatives.</summary>
    /// <param name="current">The index of the thread that took the last step, if it can go on; else -1.</param>
    int Choose(ReadOnlySpan<Alternative> alternatives, int current);
}
