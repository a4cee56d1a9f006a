using Ambrosia.Protocol.Locking;

namespace Ambrosia.Client.Requests;

/// <summary>
/// Limits how many messages, and how many bytes of them, are in flight. Who finds the limits used up waits in line. Any thread may call it;
/// one lock guards it. Invariant: what is inside keeps both limits, except that a message that is too long for them goes in alone.
/// </summary>
internal sealed class RequestLimiter(int countMax, long bytesMax)
{
    private readonly RankedLock _gate = new(LockRank.RequestLimiter);
    private readonly LinkedList<(int Bytes, TaskCompletionSource Entered)> _line = [];
    private int _count;
    private long _bytes;

    /// <summary>Completes when a message of this size is inside; <see cref="Leave"/> must follow.</summary>
    internal Task EnterAsync(int size, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return Task.FromCanceled(cancellationToken);
        LinkedListNode<(int Bytes, TaskCompletionSource Entered)> place;
        using (_gate.Enter())
        {
            if (_line.Count == 0 && Fits(size))
            {
                Take(size);
                return Task.CompletedTask;
            }
            place = _line.AddLast((size, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)));
        }
        return WaitAsync(place, cancellationToken);
    }

    private async Task WaitAsync(LinkedListNode<(int Bytes, TaskCompletionSource Entered)> place, CancellationToken cancellationToken)
    {
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(_ => GiveUp(place, cancellationToken), null);
        await place.Value.Entered.Task.ConfigureAwait(false);
    }

    private void GiveUp(LinkedListNode<(int Bytes, TaskCompletionSource Entered)> place, CancellationToken cancellationToken)
    {
        using (_gate.Enter())
        {
            if (place.List is null) return; // it is inside
            _line.Remove(place);
            Admit(); // who stood behind it may be smaller
        }
        place.Value.Entered.TrySetCanceled(cancellationToken);
    }

    /// <summary>Notes that a message of this size has left, which lets those in line in.</summary>
    internal void Leave(int size)
    {
        using (_gate.Enter())
        {
            _count--;
            _bytes -= size;
            Admit();
        }
    }

    private void Admit()
    {
        while (_line.First is { } next && Fits(next.Value.Bytes))
        {
            _line.RemoveFirst();
            Take(next.Value.Bytes);
            next.Value.Entered.SetResult();
        }
    }

    private bool Fits(int size) => _count == 0 || (_count < countMax && _bytes + size <= bytesMax);

    private void Take(int size)
    {
        _count++;
        _bytes += size;
    }
}
