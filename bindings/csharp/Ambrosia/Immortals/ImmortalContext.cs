using Ambrosia.Calls;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Proxies;
using Ambrosia.Replay;
using Ambrosia.Tasks;
using Ambrosia.Timers;

namespace Ambrosia.Immortals;

/// <summary>
/// Gives handlers, by the base class of immortals, what they use: identity, proxies, time and randomness, timers, tasks, the logger.
/// Thread: the scheduler's, except <see cref="Logger"/> and <see cref="IsPrimary"/> (any).
/// </summary>
internal sealed class ImmortalContext(
    InstanceId id, MessageSender sender, ReplayContext replay, OutstandingTimers timers, OutstandingTasks tasks, ImmortalLogger logger)
{
    private readonly int _schedulerThread = Environment.CurrentManagedThreadId;

    internal InstanceId Id => id;

    /// <summary>The time and the random numbers for handlers.</summary>
    internal ReplayContext Replay => replay;

    internal OutstandingTimers Timers => timers;

    internal OutstandingTasks Tasks => tasks;

    internal ImmortalLogger Logger => logger;

    internal bool IsPrimary => sender.Impulses.IsOpen;

    /// <summary>Gives what a proxy of an instance speaks by.</summary>
    /// <exception cref="InvalidOperationException">A query asks, or a thread that executes no handler.</exception>
    internal ProxyTarget TargetOf(InstanceId instance)
    {
        if (Scheduler.IsAnyQuerying) throw Scheduler.QueryRefusal("gets a proxy");
        if (Environment.CurrentManagedThreadId != _schedulerThread && !sender.Scheduler.IsExecuting)
            throw new InvalidOperationException(
                "GetProxy is for constructors, handlers and BecomingPrimary: keep the proxy and give it to other threads.");
        return sender.TargetOf(instance);
    }

    internal void RequestCheckpoint()
    {
        if (Scheduler.IsAnyQuerying) throw Scheduler.QueryRefusal("asks for a checkpoint");
        if (!sender.Scheduler.IsExecuting) throw new InvalidOperationException("A checkpoint is asked for by handlers.");
        sender.Outbound.Write(FrameType.CheckpointWanted, []);
    }
}
