using Ambrosia.Tasks;

namespace Ambrosia.Simulation;

/// <summary>Bodies of an app's tasks, run one at a time when the simulator says so.</summary>
internal sealed class SimulatedTasks(TimeProvider time, Action onStart) : ITaskRunner
{
    private readonly List<Func<Task>> _waiting = [];

    public TimeProvider Time { get; } = time;

    public bool HasAny => _waiting.Count > 0;

    public void Start(Func<Task> work)
    {
        onStart();
        _waiting.Add(work);
    }

    /// <summary>Runs any of them to its end.</summary>
    public void RunOne(Random random)
    {
        if (_waiting.Count == 0) return;
        int which = random.Next(_waiting.Count);
        Func<Task> work = _waiting[which];
        _waiting.RemoveAt(which);
        Task run = work();
        if (!run.IsCompleted) throw new SimulationFailure("a body waits for something that the simulator does not control");
        run.GetAwaiter().GetResult();
    }
}
