// Something that a handler can wait for: a suspended method (Frame), an outstanding call (PendingCall), a join of several (JoinAll).
// Ordinary objects with ordinary fields and no delegates, so that the checkpoint's graph writer needs no special case for them.
// Thread: the scheduler's. Invariant: at most one waiter, and it is resumed exactly once, by the scheduler's ready queue.
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Ambrosia;

internal abstract class Source
{
    private Source? waiter;

    /// <summary>Never goes back to false; <see cref="Error"/> or the value is final once it is true.</summary>
    private bool done;
    private Exception? error;

    internal bool IsDone => done;

    internal Exception? Error => error;

    /// <summary>Who waits for this; null: nobody yet, or it is done.</summary>
    internal Source? Waiter => waiter;

    /// <summary>Runs on: called by the scheduler when what this object waited for is done.</summary>
    internal virtual void Resume() => throw new InvalidOperationException($"{GetType()} waits for nothing.");

    /// <summary>Lets <paramref name="next"/> be resumed when this is done; must not be called once it is.</summary>
    internal virtual void AwaitedBy(Source next)
    {
        if (waiter is not null) throw new InvalidOperationException("A Call is awaited twice: keep its result in a variable instead.");
        waiter = next;
    }

    /// <summary>Takes back <see cref="AwaitedBy"/>: somebody else may wait for this then.</summary>
    internal void NoLongerAwaitedBy(Source next)
    {
        if (ReferenceEquals(waiter, next)) waiter = null;
    }

    /// <summary>
    /// The only one who waited for this was told otherwise. A call has been sent and goes on; what exists to be waited for alone, a timer,
    /// ends here, and who awaits it all the same gets the reason.
    /// </summary>
    internal virtual void GiveUp(Exception why)
    {
    }

    internal void Fail(Exception failure)
    {
        if (done) throw new InvalidOperationException("A call was completed twice.");
        error = failure;
        Finish();
    }

    private protected void Finish()
    {
        done = true;
        if (waiter is null) return;
        Source next = waiter;
        waiter = null;
        Scheduler.Current.MakeReady(next);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private protected void ThrowError() => ExceptionDispatchInfo.Throw(error!);
}
