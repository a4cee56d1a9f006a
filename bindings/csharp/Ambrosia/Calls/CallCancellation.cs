using Ambrosia.Calls;
using Ambrosia.Protocol.Runs;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// Cancels calls that were made <see cref="Call{T}.CancelledBy"/> it: who awaits them gets an <see cref="OperationCanceledException"/>. The
/// calls themselves have been sent and take effect; only their results are not waited for. Unlike a CancellationTokenSource it is state: it
/// may be kept in the immortal's fields, is part of checkpoints, and what it cancels is resumed in log order. Thread: the scheduler's.
/// </summary>
public sealed class CallCancellation : IImagePart
{
    /// <summary>Holds only calls that are not done, in the order in which they were given.</summary>
    private readonly SortedDictionary<ulong, Source> _waiting = [];
    private ulong _registered;

    /// <summary>True once <see cref="Cancel"/> was called.</summary>
    public bool IsCancelled { get; private set; }

    /// <summary>The number of calls that it would cancel.</summary>
    internal int Count => _waiting.Count;

    /// <summary>Cancels the calls of now and of later. A second time has no effect.</summary>
    public void Cancel()
    {
        if (IsCancelled) return;
        Scheduler scheduler = Scheduler.Current; // refuses whoever is no handler, before anything has changed
        IsCancelled = true;
        foreach (Source each in _waiting.Values) scheduler.MakeReady(each);
        _waiting.Clear();
    }

    internal ulong Register(Source call)
    {
        _waiting.Add(++_registered, call);
        return _registered;
    }

    internal void Unregister(ulong registration) => _waiting.Remove(registration);
}

/// <summary>
/// Waits for a call's outcome until it is cancelled, whichever the log has first. The call itself goes on where it was made: its result,
/// when it comes, finds nobody.
/// </summary>
internal sealed class Cancellable<T> : Source<T>
{
    private readonly Source<T> _call;
    private readonly CallCancellation? _cancellation;
    private readonly ulong _registration;

    internal Cancellable(Source<T> call, CallCancellation cancellation)
    {
        _call = call;
        if (call.IsDone || cancellation.IsCancelled)
        {
            Conclude(cancellation.IsCancelled);
            return;
        }
        call.AwaitedBy(this);
        _cancellation = cancellation;
        _registration = cancellation.Register(this);
    }

    internal override void Resume()
    {
        if (!IsDone) Conclude(_cancellation!.IsCancelled);
    }

    internal override void GiveUp(Exception why)
    {
        if (IsDone) return;
        _cancellation?.Unregister(_registration);
        _call.NoLongerAwaitedBy(this);
        _call.GiveUp(why);
        FailGivenUp(why);
    }

    /// <summary>Takes the result if it is there, even if the cancellation came in the same record.</summary>
    private void Conclude(bool isCancelled)
    {
        _cancellation?.Unregister(_registration);
        if (!_call.IsDone)
        {
            if (!isCancelled) throw new InvalidOperationException("A cancellable call was resumed without cause.");
            GiveUp(new OperationCanceledException(ListedFailures.CancelledText));
        }
        else if (_call.Error is { } failure) Fail(failure);
        else Complete(_call.Take());
    }
}
