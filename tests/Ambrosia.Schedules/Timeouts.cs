namespace Ambrosia.Schedules;

/// <summary>Says when a wait with a limit may end by its limit.</summary>
public enum Timeouts
{
    /// <summary>No wait does, so that none makes up for a wake-up that was lost.</summary>
    Never,

    /// <summary>A wait does when no thread can go on otherwise, so that time passes only where all stand still.</summary>
    WhenQuiet,

    /// <summary>Any wait may, at any step, a few times a schedule.</summary>
    Anytime,
}
