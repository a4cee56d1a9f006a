namespace Ambrosia.Tasks;

/// <summary>
/// Runs bodies of NondetTasks: on threads in production, in the simulator's steps in simulation. It is the seam for everything that is not
/// a function of the log.
/// </summary>
internal interface ITaskRunner
{
    /// <summary>The clock by which pauses and deadlines are kept.</summary>
    TimeProvider Time { get; }

    /// <summary>The services that the process has for bodies; null: it has none.</summary>
    HostServices? Services => null;

    /// <summary>
    /// Starts the work somewhere else and returns at once; called on the scheduler's thread. The work fails only
    /// where the process must end.
    /// </summary>
    void Start(Func<Task> work);
}
