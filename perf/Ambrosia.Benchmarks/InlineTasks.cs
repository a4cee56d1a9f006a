using Ambrosia.Tasks;

namespace Ambrosia.Benchmarks;

/// <summary>
/// Runs the bodies of tasks at once on the thread that begins them, so that what is measured is the binding and not the thread pool.
/// </summary>
internal sealed class InlineTasks : ITaskRunner
{
    public TimeProvider Time => TimeProvider.System;

    public void Start(Func<Task> work)
    {
        if (!work().IsCompletedSuccessfully) throw new InvalidOperationException("a body did not end at once");
    }
}
