using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Says what a view is of.</summary>
public sealed record ViewOptions
{
    /// <summary>The directory of the log, or of a copy of it.</summary>
    public required string LogDirectory { get; init; }

    /// <summary>The checkpoint at or below which it begins; null: the newest below the place.</summary>
    public Lsn? Checkpoint { get; init; }

    /// <summary>
    /// The log behind the checkpoint is kept from being removed for so long: zero for not at all, null for as long as the primary allows.
    /// </summary>
    public TimeSpan? Hold { get; init; }

    /// <summary>The app to start, with its arguments; empty: it comes by itself.</summary>
    public IReadOnlyList<string> App { get; init; } = [];

    /// <summary>Nobody reads what an app writes that is started here.</summary>
    public bool IsQuiet { get; init; }

    /// <summary>The path of the unix socket for the app; null: one in a directory of the view's own.</summary>
    public string? AppSocket { get; init; }

    /// <summary>The app executes nothing before a debugger is attached to it, and its code is not optimised.</summary>
    public bool WaitsForDebugger { get; init; }

    /// <summary>A debugger that is attached breaks where the app stops.</summary>
    public bool BreaksInDebugger { get; init; }

    /// <summary>
    /// It is told in a line when the app does something else than the log says; false: whoever looks finds that by himself.
    /// </summary>
    public bool TellsDifferences { get; init; } = true;

    /// <summary>What the app emits is kept until the log says that it was received, so that it can be held against a checkpoint.</summary>
    internal bool KeepsOutputs { get; init; }

    /// <summary>At each stop the app says how long it has executed for each method.</summary>
    public bool MeasuresHandlers { get; init; }
}
