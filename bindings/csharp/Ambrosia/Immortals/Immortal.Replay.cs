// This part of the class gives what is the same at every replay: time, chance, identity and the logger. The scheduler's thread.
namespace Ambrosia;

public abstract partial class Immortal
{
    /// <summary>
    /// The time, UTC, at which the record that is being executed was logged. It is the same at every replay and on every replica, never
    /// goes back, and stands still while a handler runs.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler or query runs on this thread.</exception>
    protected DateTimeOffset Now => Context.Replay.Now;

    /// <summary>
    /// The random numbers for handlers. They are seeded from the instance's UUID, continued behind a checkpoint, and the same at every
    /// replay and on every replica. They are not for secrets: whoever knows the UUID can compute them.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    protected Random Random => Context.Replay.Random;

    /// <summary>
    /// Writes lines for the operator. It is silent where a record is executed again, or by a replica that is not primary. Any thread may
    /// use it.
    /// </summary>
    protected ImmortalLogger Logger => Context.Logger;

    /// <summary>
    /// Makes a new Guid (version 4), the same at every replay and on every replica. It is made of <see cref="Random"/>, so it is no secret.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    protected Guid NewGuid() => Context.Replay.NewGuid();

    /// <summary>
    /// Completes when so much time has passed, by the clock of the primary: at a record whose <see cref="Now"/> is not before. It survives
    /// every failure; a new primary fires what is overdue. A delay of zero completes at a record of its own, too.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">A negative time.</exception>
    /// <exception cref="InvalidOperationException">No handler runs on this thread; or 1,048,576 timers wait already.</exception>
    protected Call Delay(TimeSpan time) => new(Context.Timers.Delay(time));

    /// <summary>
    /// Calls <paramref name="handler"/>, a method of this immortal, every <paramref name="period"/>, for the first time one period from
    /// now. The timer is part of the state: set it once, in the constructor, OnFirstStart or a handler. Periods that pass while nobody is
    /// primary, or while the handler is suspended, are not made up for. What the handler throws is treated as a fork's failure.
    /// </summary>
    /// <exception cref="ArgumentException">The handler is a lambda, or a method of something else.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The period is shorter than a millisecond.</exception>
    /// <exception cref="InvalidOperationException">No handler runs on this thread; or 1,048,576 timers wait already.</exception>
    protected RecurringTimer Every(TimeSpan period, Action handler) => new(Context.Timers.Every(period, handler));

    /// <inheritdoc cref="Every(TimeSpan, Action)"/>
    protected RecurringTimer Every(TimeSpan period, Func<Call> handler) => new(Context.Timers.Every(period, handler));
}
