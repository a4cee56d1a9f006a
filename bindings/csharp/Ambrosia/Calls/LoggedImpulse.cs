using Ambrosia.Calls;

namespace Ambrosia;

/// <summary>
/// Waits for the logging of an impulse, for code outside the handlers. Unlike other sources it is completed by one thread and awaited by
/// another, so a task carries it.
/// </summary>
internal sealed class LoggedImpulse : Source<Nothing>
{
    // Continuations must not run on the scheduler's thread, which completes it.
    private readonly TaskCompletionSource _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal Task Task => _completion.Task;

    /// <summary>
    /// Completes it, on the scheduler's thread. The task is first, so that whoever sees the source done finds the task complete.
    /// </summary>
    internal void MarkLogged()
    {
        _completion.SetResult();
        Complete(default);
    }

    internal void Abandon(Exception why)
    {
        _completion.SetException(why);
        Fail(why);
    }

    internal override Nothing Take()
    {
        Task.GetAwaiter().GetResult();
        return default;
    }

    internal override void AwaitedBy(Source next) => throw ForeignAwait.ImpulseInHandler();
}
