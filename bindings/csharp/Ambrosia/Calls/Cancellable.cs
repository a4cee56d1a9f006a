namespace Ambrosia;

/// <summary>
/// A call's outcome, or that it is not waited for any longer, whichever the log has first. The call itself goes on where it was made: its
/// result, when it comes, finds nobody.
/// </summary>
internal sealed class Cancellable<T> : Source<T>
{
    private readonly Source<T> call;
    private readonly CallCancellation? cancellation;
    private readonly ulong registration;

    internal Cancellable(Source<T> call, CallCancellation cancellation)
    {
        this.call = call;
        if (call.IsDone || cancellation.IsCancelled)
        {
            Conclude(cancellation.IsCancelled);
            return;
        }
        call.AwaitedBy(this);
        this.cancellation = cancellation;
        registration = cancellation.Register(this);
    }

    internal override void Resume()
    {
        if (!IsDone) Conclude(cancellation!.IsCancelled);
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        cancellation?.Unregister(registration);
        call.NoLongerAwaitedBy(this);
        call.GiveUp(why);
        Fail(why);
    }

    /// <summary>A result that is there counts, even if the cancellation came in the same record.</summary>
    private void Conclude(bool isCancelled)
    {
        cancellation?.Unregister(registration);
        if (!call.IsDone)
        {
            if (!isCancelled) throw new InvalidOperationException("A cancellable call was resumed without cause.");
            GiveUp(new OperationCanceledException("The call was cancelled before its result came."));
        }
        else if (call.Error is { } failure) Fail(failure);
        else Complete(call.Take());
    }
}
