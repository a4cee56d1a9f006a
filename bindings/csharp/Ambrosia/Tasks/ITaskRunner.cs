namespace Ambrosia;

/// <summary>
/// Where bodies of NondetTasks run: threads in production, the simulator's steps in simulation. The seam for everything that is
/// not a function of the log.
/// </summary>
internal interface ITaskRunner
{
    /// <summary>By which pauses and deadlines are kept.</summary>
    TimeProvider Time { get; }

    /// <summary>
    /// Starts the work somewhere else and returns at once; called on the scheduler's thread. The work fails only
    /// where the process must end.
    /// </summary>
    void Start(Func<Task> work);
}
