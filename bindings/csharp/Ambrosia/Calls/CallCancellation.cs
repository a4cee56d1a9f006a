// Lets handlers stop waiting for calls. Unlike CancellationTokenSource it is state: it is part of checkpoints, and what it cancels is
// resumed in log order. Thread: the scheduler's. Invariant: waiting holds only calls that are not done, in the order
// in which they were given.
namespace Ambrosia;

/// <summary>
/// Cancels calls that were made <see cref="Call{T}.CancelledBy"/> it: who awaits them gets an <see cref="OperationCanceledException"/>. The
/// calls themselves have been sent and take effect; only their results are not waited for. May be kept in the immortal's state.
/// </summary>
public sealed class CallCancellation : IImagePart
{
    private readonly SortedDictionary<ulong, Source> waiting = [];
    private ulong registered;

    public bool IsCancelled { get; private set; }

    /// <summary>Calls that it would cancel.</summary>
    internal int Count => waiting.Count;

    /// <summary>Cancels now and from now on. A second time has no effect.</summary>
    public void Cancel()
    {
        if (IsCancelled) return;
        Scheduler scheduler = Scheduler.Current; // refuses whoever is no handler, before anything has changed
        IsCancelled = true;
        foreach (Source each in waiting.Values) scheduler.MakeReady(each);
        waiting.Clear();
    }

    internal ulong Register(Source call)
    {
        waiting.Add(++registered, call);
        return registered;
    }

    internal void Unregister(ulong registration) => waiting.Remove(registration);
}
