namespace Ambrosia.Client;

/// <summary>
/// How much may be under way: a number of messages and of bytes. Who finds it used up waits in line. Any thread; one lock. Invariant: never
/// more than the limits is inside, except one message that is too long for them, alone.
/// </summary>
internal sealed class Allowance(int countMax, long bytesMax)
{
    private readonly Lock gate = new();
    private readonly LinkedList<(int Bytes, TaskCompletionSource Entered)> line = [];
    private int count;
    private long bytes;

    internal Task EnterAsync(int size, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return Task.FromCanceled(cancellationToken);
        LinkedListNode<(int Bytes, TaskCompletionSource Entered)> place;
        lock (gate)
        {
            if (line.Count == 0 && Fits(size))
            {
                Take(size);
                return Task.CompletedTask;
            }
            place = line.AddLast((size, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)));
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
        lock (gate)
        {
            if (place.List is null) return; // it is inside
            line.Remove(place);
            Admit(); // who stood behind it may be smaller
        }
        place.Value.Entered.TrySetCanceled(cancellationToken);
    }

    internal void Leave(int size)
    {
        lock (gate)
        {
            count--;
            bytes -= size;
            Admit();
        }
    }

    private void Admit()
    {
        while (line.First is { } next && Fits(next.Value.Bytes))
        {
            line.RemoveFirst();
            Take(next.Value.Bytes);
            next.Value.Entered.SetResult();
        }
    }

    private bool Fits(int size) => count == 0 || (count < countMax && bytes + size <= bytesMax);

    private void Take(int size)
    {
        count++;
        bytes += size;
    }
}
