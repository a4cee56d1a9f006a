// What handlers see of the world: time, randomness, timers and tasks as functions of the log. On the scheduler's thread only, except Logger (any).
namespace Ambrosia;

public abstract partial class Immortal
{
    /// <summary>
    /// The time, UTC, of the record that is being executed: when it was logged. It is the same at every replay and on every replica, never
    /// goes back, and stands still while a handler runs.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    protected DateTimeOffset Now => Runtime.Surroundings.Now;

    /// <summary>
    /// Random numbers for handlers: seeded from the instance's UUID, continued behind a checkpoint, the same at every replay and on every
    /// replica. Not for secrets: whoever knows the UUID can compute them.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    protected Random Random => Runtime.Surroundings.Random;

    /// <summary>For the operator: silent where a record is executed again, or by a replica that is not primary. Any thread.</summary>
    protected ImmortalLogger Logger => Runtime.Logger;

    /// <summary>A new Guid (version 4), the same at every replay and on every replica. It is made of <see cref="Random"/>, so it is no secret.</summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread.</exception>
    protected Guid NewGuid() => Runtime.Surroundings.NewGuid();
}
