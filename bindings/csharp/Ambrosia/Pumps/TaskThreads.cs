namespace Ambrosia;

/// <summary>
/// Runs the bodies of NondetTasks on the thread pool. What fails there with something that is no failure of the body ends the process.
/// </summary>
internal sealed class TaskThreads(TimeProvider time) : ITaskRunner
{
    public TimeProvider Time { get; } = time;

    public void Start(Func<Task> work) => ThreadPool.UnsafeQueueUserWorkItem(static work => Run(work), work, preferLocal: false);

    /// <summary>An async void method: what it throws is unhandled, which is what is wanted.</summary>
    private static async void Run(Func<Task> work) => await work().ConfigureAwait(false);
}
