using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events in the life of a coordinator process, from its start to its end.</summary>
internal static partial class CoordinatorEvents
{
    /// <summary>The process was started with --unsafe-no-flush. Never use it for anything but measurements.</summary>
    [LoggerMessage(EventId = 601, EventName = "coordinator.unsafe", Level = LogLevel.Warning,
        Message = "UNSAFE: nothing is flushed (--unsafe-no-flush). A machine that stops loses what was acknowledged. For measurements only.")]
    public static partial void UnsafeStarted(this ILogger logger);

    /// <summary>
    /// The process was started with --unsafe-no-proof. Two replicas may be primary at once, and lose calls, where a mount remembers names.
    /// </summary>
    [LoggerMessage(EventId = 619, EventName = "coordinator.unsafe.claims", Level = LogLevel.Warning,
        Message = "UNSAFE: this replica claims although nothing proves that machines see the same names (--unsafe-no-proof). Two may be primary at once. For tests only.")]
    public static partial void UnprovenClaimsAllowed(this ILogger logger);

    /// <summary>Other users can look into the directory of the log or the catalog.</summary>
    [LoggerMessage(EventId = 602, EventName = "coordinator.exposed", Level = LogLevel.Warning,
        Message = "the {What}'s directory {Directory} can be seen by every user of this machine; 'chmod 700' keeps it private")]
    public static partial void DirectoryExposed(this ILogger logger, string what, string directory);

    /// <summary>The lock of the log is held, so this process follows, or waits until the other one ends.</summary>
    [LoggerMessage(EventId = 603, EventName = "coordinator.waiting", Level = LogLevel.Information,
        Message = "another coordinator is primary of {Instance} ({Path}); this one follows as replica {Replica}")]
    public static partial void AnotherIsPrimary(this ILogger logger, string instance, string path, string replica);

    /// <summary>The log is open, and the app can find its channel here.</summary>
    [LoggerMessage(EventId = 604, EventName = "coordinator.opened", Level = LogLevel.Information,
        Message = "epoch {Epoch}: log open at {Durable}, app channel {App}, token {Token}")]
    public static partial void LogOpened(this ILogger logger, Epoch epoch, Lsn durable, string app, string token);

    /// <summary>A secondary has executed all that was durable and answers queries from now on.</summary>
    [LoggerMessage(EventId = 605, EventName = "coordinator.caught.up", Level = LogLevel.Information,
        Message = "role=secondary epoch={Epoch} caught up at {Durable}, {Records} records executed")]
    public static partial void CaughtUp(this ILogger logger, Epoch epoch, Lsn durable, long records);

    /// <summary>The disk is full, and a promotion would have to find space first.</summary>
    [LoggerMessage(EventId = 606, EventName = "coordinator.spare.missing", Level = LogLevel.Warning,
        Message = "no space is set aside for a promotion: {Why}")]
    public static partial void SpareMissing(this ILogger logger, string why);

    /// <summary>The primary has not moved for --hang-limit, and this replica claims the log.</summary>
    [LoggerMessage(EventId = 607, EventName = "coordinator.primary.hangs", Level = LogLevel.Warning,
        Message = "the primary of epoch {Epoch} holds its lock and its heartbeat stands still: taking over")]
    public static partial void PrimaryHangs(this ILogger logger, Epoch epoch);

    /// <summary>A secondary has become the owner of the log. It is ready a moment later.</summary>
    [LoggerMessage(EventId = 608, EventName = "coordinator.promoted", Level = LogLevel.Information,
        Message = "epoch {Epoch}: took the log over at {Durable}")]
    public static partial void LogTakenOver(this ILogger logger, Epoch epoch, Lsn durable);

    /// <summary>
    /// The app of this primary has executed all that was durable, and links are open. Address is where peers reach it. Ms counts from the
    /// start of the process, or from its take-over; where an app was ready before, from the end of that one.
    /// </summary>
    [LoggerMessage(EventId = 609, EventName = "coordinator.ready", Level = LogLevel.Information,
        Message = "ready instance={Instance} epoch={Epoch} replayed={Replayed} in {Ms:F0}ms")]
    public static partial void BecameReady(
        this ILogger logger, string instance, Epoch epoch, long replayed, double ms, string address, string app);

    /// <summary>SIGTERM or SIGINT was taken, or an operator has retired this replica.</summary>
    [LoggerMessage(EventId = 610, EventName = "coordinator.stopping", Level = LogLevel.Information,
        Message = "stopping")]
    public static partial void StopAsked(this ILogger logger);

    /// <summary>The process ends by a decision of its own. The exit codes say what to do.</summary>
    [LoggerMessage(EventId = 611, EventName = "coordinator.exit", Level = LogLevel.Critical,
        Message = "exit {Code}: {Why}")]
    public static partial void Exited(this ILogger logger, int code, string why);

    /// <summary>
    /// The standard output could not be written, or was too slow, and takes lines again. Look at who reads it, and at the space on its
    /// disk.
    /// </summary>
    [LoggerMessage(EventId = 612, EventName = "coordinator.events.lost", Level = LogLevel.Warning,
        Message = "events: {Count} could not be written to the standard output and are lost")]
    public static partial void EventsLost(this ILogger logger, long count);

    /// <summary>
    /// Machines share the log's directory, and this replica may not claim it: no primary is there with which it could prove that neither
    /// sees old names. It goes on to ask for one.
    /// </summary>
    [LoggerMessage(EventId = 616, EventName = "coordinator.coherence.unproven", Level = LogLevel.Warning,
        Message = "epoch {Epoch} was another machine's, and nobody is there to prove with that both see the same names, so this replica claims nothing. {Next}")]
    public static partial void CoherenceUnproven(this ILogger logger, Epoch epoch, string next);

    /// <summary>The primary and this replica have seen at once what the other has renamed, written and created: it may claim.</summary>
    [LoggerMessage(EventId = 617, EventName = "coordinator.coherence.proven", Level = LogLevel.Information,
        Message = "the primary of epoch {Epoch} and this replica see at once what the other changes: it may take over")]
    public static partial void CoherenceProven(this ILogger logger, Epoch epoch);

    /// <summary>
    /// A replica on another machine has asked this primary for the proof. Where something was late the replica ends with 2.
    /// </summary>
    [LoggerMessage(EventId = 618, EventName = "coordinator.coherence.answered", Level = LogLevel.Information,
        Message = "replica {Replica} of another machine has met this primary in the log's directory: {Late} was late")]
    public static partial void CoherenceAnswered(this ILogger logger, string replica, string late);
}
