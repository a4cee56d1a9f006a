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

    /// <summary>This process is primary now: of what earlier ones ran these tasks alone have no result.</summary>
    void BecomePrimary(IReadOnlySet<ulong> outstanding)
    {
    }

    /// <summary>Starts the body of a task, unless it is one that is not to run here and now.</summary>
    void StartBody(BodyOfTask body, Func<Task> work) => Start(work);

    /// <summary>The body has ended, or its task has a result. A number that is not known has no effect.</summary>
    void BodyEnded(ulong task)
    {
    }

    /// <summary>The session has ended: no body is begun any more.</summary>
    void SessionEnded()
    {
    }

    /// <summary>Counts a failure of a call or task that no handler has awaited.</summary>
    void CountUnheard()
    {
    }
}

/// <summary>Names the body of a task, for whoever runs it.</summary>
/// <param name="Task">The task's number.</param>
/// <param name="BegunAt">The Lsn of the record whose handler began it; 0: it came out of a checkpoint.</param>
/// <param name="Name">The method in whose code the body stands, for people.</param>
internal readonly record struct BodyOfTask(ulong Task, ulong BegunAt, string Name);
