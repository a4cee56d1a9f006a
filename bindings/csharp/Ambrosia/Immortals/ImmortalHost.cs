using System.Reflection;
using Ambrosia.Calls;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Replay;
using Ambrosia.Tasks;
using Ambrosia.Timers;

namespace Ambrosia.Immortals;

/// <summary>
/// Holds the one immortal of a session, which the first record makes or an image brings. Thread: the scheduler's. Invariant: once there is
/// an immortal it is never replaced.
/// </summary>
internal sealed class ImmortalHost(ImmortalDefinition definition)
{
    [ThreadStatic]
    private static ImmortalContext? s_constructing;

    internal ImmortalDefinition Definition => definition;

    internal Type Type => definition.Type;

    internal string TypeName => definition.Type.Name;

    /// <summary>The immortal; null until the first record or the image.</summary>
    internal Immortal? Immortal { get; private set; }

    /// <summary>
    /// Gives the context of the immortal whose constructor begins: that of the session that makes it, or of a test that says <c>new</c>.
    /// </summary>
    /// <exception cref="InvalidOperationException">A handler makes an immortal by <c>new</c>.</exception>
    internal static ImmortalContext TakeConstructing(Immortal made)
    {
        if (s_constructing is { } context)
        {
            s_constructing = null; // it is for this one: another that its constructor makes is none of the session's
            return context;
        }
        if (Scheduler.IsAnyExecuting || Scheduler.IsAnyQuerying || Scheduler.IsAnyConverting)
            throw new BindingMisuseException(Misuse.ImmortalByNew);
        return new TestSession().ContextFor(made);
    }

    /// <summary>Makes the immortal, at the FirstStart record: the constructor and OnFirstStart are part of it.</summary>
    internal void Construct(ImmortalContext context)
    {
        if (Immortal is not null) throw new ProtocolViolation("L5.5", "a second FirstStart record");
        Immortal = Constructed(context, definition.Create);
        Immortal.RunFirstStart();
    }

    /// <summary>Takes the immortal of an image.</summary>
    internal void Adopt(ImmortalContext context, Immortal restored)
    {
        restored.Attach(context);
        Immortal = restored;
    }

    /// <summary>Makes an immortal that gets this context.</summary>
    internal static Immortal Constructed(ImmortalContext context, Func<Immortal> make)
    {
        s_constructing = context;
        try
        {
            return make();
        }
        finally
        {
            s_constructing = null;
        }
    }

    /// <exception cref="ProtocolViolation">There is no immortal yet (L5.5).</exception>
    internal Immortal Started() => Immortal ?? throw new ProtocolViolation("L5.5", "a record to execute before FirstStart or an image");

    /// <summary>Gives the name of a method for people: <c>Type.Method</c>, or its id where no contract has it.</summary>
    internal string NameOf(uint method) => MethodNames.Of(definition.Type, method);
}

/// <summary>Finds names of methods for people, by the rule that made their ids (protocol P4.5). It is off the hot path.</summary>
internal static class MethodNames
{
    /// <summary>Gives <c>Type.Method</c>, or the id where no contract of the type has it.</summary>
    internal static string Of(Type immortal, uint id)
    {
        foreach (Type contract in immortal.GetInterfaces())
            foreach (MethodInfo method in contract.GetMethods())
                if (((uint?)method.GetCustomAttribute<MethodIdAttribute>()?.Id ?? MethodIds.Of(contract.Name, method.Name)) == id)
                    return $"{immortal.Name}.{method.Name}";
        return $"{immortal.Name}, method 0x{id:X},";
    }
}

/// <summary>
/// Gives handlers, by the base class of immortals, what they use: identity, proxies, time and randomness, timers, tasks, the logger.
/// Thread: the scheduler's, except <see cref="Logger"/>, <see cref="Services"/> and <see cref="IsPrimary"/>
/// (any).
/// </summary>
internal sealed class ImmortalContext(
    InstanceId id, MessageSender sender, ReplayContext replay, OutstandingTimers timers, OutstandingTasks tasks, ImmortalLogger logger)
{
    private readonly int _schedulerThread = Environment.CurrentManagedThreadId;

    internal InstanceId Id => id;

    /// <summary>The test in which the immortal lives; null: it has a session.</summary>
    internal TestSession? Test { get; init; }

    /// <summary>The time and the random numbers for handlers.</summary>
    internal ReplayContext Replay => replay;

    internal OutstandingTimers Timers => timers;

    internal OutstandingTasks Tasks => tasks;

    internal ImmortalLogger Logger => logger;

    /// <summary>The services that the process has for code outside of handlers; null: nothing. Any thread.</summary>
    internal HostServices? Services => tasks.Services;

    internal bool IsPrimary => sender.Impulses.IsOpen;

    /// <summary>Gives what a proxy of an instance speaks by.</summary>
    /// <exception cref="InvalidOperationException">A query asks, or a thread that executes no handler.</exception>
    internal ProxyTarget TargetOf(InstanceId instance)
    {
        if (Scheduler.IsAnyQuerying) throw Scheduler.QueryRefusal("gets a proxy");
        if (Environment.CurrentManagedThreadId != _schedulerThread && !sender.Scheduler.IsExecuting && Test is null)
            throw new BindingMisuseException(Misuse.ProxyElsewhere);
        return sender.TargetOf(instance);
    }

    internal void RequestCheckpoint()
    {
        Scheduler.RefuseOutsideHandlers("asks for a checkpoint");
        if (Test is not null) return;
        if (!sender.Scheduler.IsExecuting) throw new BindingMisuseException(Misuse.CheckpointElsewhere);
        sender.Outbound.Write(FrameType.CheckpointWanted, []);
    }
}
