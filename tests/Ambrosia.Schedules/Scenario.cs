namespace Ambrosia.Schedules;

/// <summary>Makes one small closed world after another, all alike: what differs between two runs follows from the schedule alone.</summary>
public abstract class Scenario
{
    public string Name => GetType().Name;

    /// <summary>When a wait with a limit may end by it.</summary>
    public virtual Timeouts Timeouts => Timeouts.Never;

    /// <summary>Makes a world at its beginning, while no thread runs.</summary>
    public abstract World Make();
}
