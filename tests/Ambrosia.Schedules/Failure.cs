namespace Ambrosia.Schedules;

/// <summary>What a schedule ended in instead of holding.</summary>
public enum FailureKind
{
    /// <summary>No thread can go on, and work is left.</summary>
    Deadlock,

    /// <summary>Threads go on for ever.</summary>
    Livelock,

    /// <summary>A thread has thrown.</summary>
    Exception,

    /// <summary>All threads have come to rest, and the world's oracle is not content.</summary>
    Oracle,
}

/// <summary>Says what a schedule failed by.</summary>
public sealed record Failure(FailureKind Kind, string Why)
{
    public override string ToString() => $"{Kind}: {Why}";
}
