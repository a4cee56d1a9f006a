// What a client has under way, across its connections: what waits to be sent, in order, and what was sent on the present one. Any thread;
// one lock. Invariants: a request without a key is sent at most once; each is completed once and then no longer here; what has a key goes
// to the next connection in the order in which it was sent.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Client;

internal sealed class RequestBook(Action<ClientRequest> left)
{
    /// <summary>Messages share a run up to this size.</summary>
    private const int RunBytesTarget = 64 * 1024;

    private readonly Lock gate = new();
    private readonly LinkedList<ClientRequest> unsent = [];

    /// <summary>Sent on the present connection and not completed, in the order of their numbers.</summary>
    private readonly SortedDictionary<ulong, ClientRequest> sent = [];

    /// <summary>Of those, the impulses; some may have been abandoned.</summary>
    private readonly Queue<ClientRequest> impulses = new();
    private ulong last;
    private Exception? ended;

    internal int Count { get { lock (gate) return unsent.Count + sent.Count; } }

    /// <summary>False: the client has ended, and so has the request.</summary>
    internal bool TryAdd(ClientRequest request)
    {
        lock (gate)
        {
            if (ended is null)
            {
                unsent.AddLast(request);
                return true;
            }
        }
        request.Completion.TrySetException(ended);
        return false;
    }

    /// <summary>Nobody waits any more. What was not sent is not; what was may take effect.</summary>
    internal void Abandon(ClientRequest request, CancellationToken token)
    {
        bool wasUnsent;
        lock (gate) wasUnsent = request.Number == 0 && unsent.Remove(request);
        request.Completion.TrySetCanceled(token);
        if (wasUnsent) left(request);
    }

    /// <summary>A new connection: numbers begin with 1.</summary>
    internal void Connected()
    {
        lock (gate)
        {
            if (sent.Count > 0) throw new InvalidOperationException("two connections at a time");
            last = 0;
        }
    }

    /// <summary>
    /// The next messages as one run (protocol P3), at most so many that no more than <paramref name="requestsMax"/> are under way.
    /// </summary>
    /// <param name="messageBytesMax">The instance takes no longer one (P3.4): what is longer fails here, since it would end
    /// every connection.</param>
    internal bool TryTakeRun(uint requestsMax, uint messageBytesMax, ArrayBufferWriter<byte> run)
    {
        List<ClientRequest>? tooLong = null;
        lock (gate)
        {
            while (unsent.First?.Value is { } next && next.BodyBytes > messageBytesMax)
            {
                unsent.RemoveFirst();
                (tooLong ??= []).Add(next);
            }
            TakeRun(requestsMax, messageBytesMax, run);
        }
        foreach (ClientRequest request in tooLong ?? [])
        {
            request.Completion.TrySetException(new MessageTooLongException(request.BodyBytes, messageBytesMax));
            left(request);
        }
        return run.WrittenCount > 0;
    }

    private void TakeRun(uint requestsMax, uint messageBytesMax, ArrayBufferWriter<byte> run)
    {
        if (unsent.First?.Value is not { } first || (uint)sent.Count >= requestsMax) return;
        ulong number = last + 1;
        run.Advance(Head(first, number, 0, run.GetSpan(RunHeader.Bytes)));
        uint count = 0;
        while (unsent.First?.Value is { } next && (uint)sent.Count < requestsMax && next.IsImpulse == first.IsImpulse
            && next.IsKeyed == first.IsKeyed
            && next.BodyBytes <= messageBytesMax && (count == 0 || run.WrittenCount + next.Message.Length <= RunBytesTarget))
        {
            unsent.RemoveFirst();
            next.Number = ++last;
            sent.Add(last, next);
            if (next.IsImpulse) impulses.Enqueue(next);
            run.Write(next.Message);
            count++;
        }
        Head(first, number, count, System.Runtime.InteropServices.MemoryMarshal.AsMemory(run.WrittenMemory).Span);
    }

    private static int Head(ClientRequest first, ulong number, uint count, Span<byte> to)
    {
        new RunHeader(first.IsImpulse ? MessageKind.Impulse : MessageKind.ClientRequest, first.IsKeyed, 0, 0, number, count, 0, 0)
            .Write(to);
        return RunHeader.Bytes;
    }

    /// <summary>Everything up to this number is durable: impulses are done.</summary>
    /// <exception cref="ProtocolViolation">P10.5.</exception>
    internal void Logged(ulong number, Lsn position)
    {
        var done = new List<ClientRequest>();
        lock (gate)
        {
            if (number > last) throw new ProtocolViolation("P10.5", $"message {number} is logged where {last} was the last one sent");
            while (impulses.TryPeek(out ClientRequest? next) && next.Number <= number)
            {
                sent.Remove(impulses.Dequeue().Number);
                done.Add(next);
            }
        }
        foreach (ClientRequest request in done)
        {
            request.LoggedAt = position;
            Complete(request, []);
        }
    }

    /// <exception cref="ProtocolViolation">P10.6.</exception>
    internal void Answered(ulong number, bool isFailure, ReadOnlySpan<byte> answer)
    {
        ClientRequest? request;
        lock (gate)
        {
            if (!sent.Remove(number, out request) || request.IsImpulse)
                throw new ProtocolViolation("P10.6", $"an answer to {number}, which nobody asked");
        }
        if (isFailure)
        {
            request.Completion.TrySetException(RequestFailedException.Of(answer));
            left(request);
        }
        else Complete(request, answer.ToArray());
    }

    /// <summary>The connection is gone: what has a key is sent again, the fate of the rest is unknown.</summary>
    internal void Lost(string why)
    {
        var unknown = new List<ClientRequest>();
        lock (gate)
        {
            foreach (ClientRequest request in sent.Values.Reverse())
            {
                request.Number = 0;
                if (request.IsKeyed && !request.Completion.Task.IsCompleted) unsent.AddFirst(request);
                else unknown.Add(request);
            }
            sent.Clear();
            impulses.Clear();
        }
        foreach (ClientRequest request in unknown)
        {
            request.Completion.TrySetException(
                new OutcomeUnknownException(
                    $"The connection was lost before it was known what became of a message ({why}): it takes effect once or never. Give it a key, and it is repeated until that is known."));
            left(request);
        }
    }

    /// <summary>The instance does not take us: what waits to be sent fails.</summary>
    internal void Refused(Exception why)
    {
        ClientRequest[] waiting;
        lock (gate)
        {
            waiting = [.. unsent];
            unsent.Clear();
        }
        foreach (ClientRequest request in waiting)
        {
            request.Completion.TrySetException(why);
            left(request);
        }
    }

    /// <summary>No more requests.</summary>
    internal void End(Exception why)
    {
        lock (gate)
        {
            if (ended is not null) return;
            ended = why;
        }
        Lost("the client was closed");
        Refused(why);
    }

    private void Complete(ClientRequest request, byte[] answer)
    {
        request.Completion.TrySetResult(answer);
        left(request);
    }
}
