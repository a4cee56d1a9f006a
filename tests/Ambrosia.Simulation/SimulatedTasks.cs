namespace Ambrosia.Simulation;

/// <summary>Bodies of an app's tasks, run one at a time when the simulator says so.</summary>
internal sealed class SimulatedTasks(TimeProvider time, Action onStart) : ITaskRunner
{
    private readonly List<Func<Task>> waiting = [];

    public TimeProvider Time { get; } = time;

    public bool HasAny => waiting.Count > 0;

    public void Start(Func<Task> work)
    {
        onStart();
        waiting.Add(work);
    }

    /// <summary>Runs any of them to its end.</summary>
    public void RunOne(Random random)
    {
        if (waiting.Count == 0) return;
        int which = random.Next(waiting.Count);
        Func<Task> work = waiting[which];
        waiting.RemoveAt(which);
        Task run = work();
        if (!run.IsCompleted) throw new SimulationFailure("a body waits for something that the simulator does not control");
        run.GetAwaiter().GetResult();
    }
}
