namespace Ambrosia.Coordinator.Hosting;

/// <summary>No coordinator answers; the message says where one was looked for and what to do.</summary>
public sealed class AdminUnreachableException(string message) : Exception(message)
{
    /// <summary>
    /// Gets whether nothing listens there. Otherwise a coordinator runs, and its answer did not come in time, is too long, or cannot be
    /// read.
    /// </summary>
    public bool IsAbsent { get; init; }
}
