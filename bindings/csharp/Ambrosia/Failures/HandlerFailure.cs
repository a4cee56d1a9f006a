namespace Ambrosia.Failures;

/// <summary>Tells failures of handlers, which replay repeats and callers are told, from those that end the process.</summary>
internal static class HandlerFailure
{
    /// <summary>
    /// True if <paramref name="e"/> is a failure of the user's handler. Lack of memory, the end of the app channel and a stop of the app
    /// are none: they unwind whoever runs the handler.
    /// </summary>
    internal static bool Is(Exception e) => e is not (OutOfMemoryException or ChannelEnded or AppFailed);
}

/// <summary>
/// Says that the user's code failed where no caller can be told: in a constructor, in OnFirstStart, in BecomingPrimary, at a restore.
/// </summary>
internal sealed class AppFailed(string what, Exception why) : Exception($"{what}: {why.Message}", why);

/// <summary>Unwinds a handler that was sending when the app channel had gone; the next process repeats its work.</summary>
internal sealed class ChannelEnded(string why) : Exception(why);

/// <summary>
/// Says that what is executed contradicts the log: this execution is another than the one that made the log (log-format L5.11).
/// </summary>
internal sealed class Diverged(string what) : Exception(what);
