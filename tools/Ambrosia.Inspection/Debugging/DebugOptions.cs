namespace Ambrosia.Inspection.Debugging;

/// <summary>Says what is looked at, in the words of the person who looks.</summary>
public sealed record DebugOptions
{
    /// <summary>The directory of the log, or of a copy of it.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>
    /// The checkpoint to begin with: its name, its Lsn, or its number from the newest, which is 1; null: the newest that serves.
    /// </summary>
    public string? Checkpoint { get; init; }

    /// <summary>
    /// The log behind the checkpoint is kept from being removed for so long: zero for not at all, null for as long as the primary allows.
    /// </summary>
    public TimeSpan? Hold { get; init; }

    /// <summary>The app to start, with its arguments; empty: it comes by itself.</summary>
    public IReadOnlyList<string> App { get; init; } = [];

    /// <summary>The path of the unix socket for the app; null: one in a directory of the view's own.</summary>
    public string? AppSocket { get; init; }

    /// <summary>The app executes nothing before a debugger is attached to it.</summary>
    public bool WaitsForDebugger { get; init; }

    /// <summary>A debugger that is attached breaks where the app stops.</summary>
    public bool BreaksInDebugger { get; init; }
}
