using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Client.Requests;

/// <summary>
/// Owns the requests that a client has in flight, across its connections: those that wait to be sent, in order, and those that were sent on
/// the present connection. Any thread may call it; one lock guards it. Invariants: a request without a key is sent at most once; each
/// request is completed once and is then no longer here; requests with a key go to the next connection in the order in which they were
/// sent.
/// </summary>
/// <param name="left">Called for each request that leaves, outside the lock.</param>
internal sealed class InFlightRequests(Action<ClientRequest> left)
{
    /// <summary>Messages share a run up to this size in bytes.</summary>
    private const int RunBytesTarget = 64 * 1024;

    private readonly RankedLock _gate = new(LockRank.InFlightRequests);
    /// <summary>The requests that wait to be sent, in order.</summary>
    private readonly LinkedList<ClientRequest> _unsent = [];

    /// <summary>The requests that were sent on the present connection and are not completed, by their numbers.</summary>
    private readonly SortedDictionary<ulong, ClientRequest> _sent = [];

    /// <summary>The impulses among those sent; some may have been abandoned.</summary>
    private readonly Queue<ClientRequest> _impulses = new();

    /// <summary>The number of the last request that was sent on the present connection.</summary>
    private ulong _last;

    private Exception? _ended;

    /// <summary>The number of requests in flight.</summary>
    internal int Count { get { using (_gate.Enter()) return _unsent.Count + _sent.Count; } }

    /// <summary>Adds a request; returns false when the client has ended, and then the request has failed with the same reason.</summary>
    internal bool TryAdd(ClientRequest request)
    {
        using (_gate.Enter())
        {
            if (_ended is null)
            {
                _unsent.AddLast(request);
                return true;
            }
        }
        request.Completion.TrySetException(_ended);
        return false;
    }

    /// <summary>
    /// Drops a request for which nobody waits any more. If it was not sent yet, it never is; otherwise it may take effect.
    /// </summary>
    internal void Abandon(ClientRequest request, CancellationToken token)
    {
        bool wasUnsent;
        using (_gate.Enter()) wasUnsent = request.Number == 0 && _unsent.Remove(request);
        request.Completion.TrySetCanceled(token);
        if (wasUnsent) left(request);
    }

    /// <summary>Begins a new connection, on which numbers begin with 1.</summary>
    internal void Connected()
    {
        using (_gate.Enter())
        {
            if (_sent.Count > 0) throw new InvalidOperationException("two connections at a time");
            _last = 0;
        }
    }

    /// <summary>
    /// Takes the next messages as one run (protocol P3), so that no more than <paramref name="requestsMax"/> are in flight.
    /// </summary>
    /// <param name="messageBytesMax">Longest message that the instance accepts (P3.4). A longer one fails here, since it would end every
    /// connection.</param>
    internal bool TryTakeRun(uint requestsMax, uint messageBytesMax, ArrayBufferWriter<byte> run)
    {
        List<ClientRequest>? tooLong = null;
        using (_gate.Enter())
        {
            while (_unsent.First?.Value is { } next && next.BodyBytes > messageBytesMax)
            {
                _unsent.RemoveFirst();
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
        if (_unsent.First?.Value is not { } first || (uint)_sent.Count >= requestsMax) return;
        ulong number = _last + 1;
        run.Advance(Head(first, number, 0, run.GetSpan(RunHeader.Bytes)));
        uint count = 0;
        while (_unsent.First?.Value is { } next && (uint)_sent.Count < requestsMax && next.IsImpulse == first.IsImpulse
            && next.IsKeyed == first.IsKeyed
            && next.BodyBytes <= messageBytesMax && (count == 0 || run.WrittenCount + next.Message.Length <= RunBytesTarget))
        {
            _unsent.RemoveFirst();
            next.Number = ++_last;
            _sent.Add(_last, next);
            if (next.IsImpulse) _impulses.Enqueue(next);
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

    /// <summary>Completes the impulses up to this number, all of which are durable.</summary>
    /// <exception cref="ProtocolViolation">P10.5.</exception>
    internal void Logged(ulong number, Lsn position)
    {
        var done = new List<ClientRequest>();
        using (_gate.Enter())
        {
            if (number > _last) throw new ProtocolViolation("P10.5", $"message {number} is logged where {_last} was the last one sent");
            while (_impulses.TryPeek(out ClientRequest? next) && next.Number <= number)
            {
                _sent.Remove(_impulses.Dequeue().Number);
                done.Add(next);
            }
        }
        foreach (ClientRequest request in done)
        {
            request.LoggedAt = position;
            Complete(request, []);
        }
    }

    /// <summary>Completes a request with its answer or failure.</summary>
    /// <exception cref="ProtocolViolation">P10.6.</exception>
    internal void Answered(ulong number, bool isFailure, ReadOnlySpan<byte> answer)
    {
        ClientRequest? request;
        using (_gate.Enter())
        {
            if (!_sent.Remove(number, out request) || request.IsImpulse)
                throw new ProtocolViolation("P10.6", $"an answer to {number}, which nobody asked");
        }
        if (isFailure)
        {
            request.Completion.TrySetException(RequestFailedException.Of(answer).Naming(request.Name));
            left(request);
        }
        else Complete(request, answer.ToArray());
    }

    /// <summary>
    /// Ends the present connection. Requests with a key are sent again on the next one; the others fail, since their outcome is unknown.
    /// </summary>
    internal void Lost(string why)
    {
        var unknown = new List<ClientRequest>();
        using (_gate.Enter())
        {
            foreach (ClientRequest request in _sent.Values.Reverse())
            {
                request.Number = 0;
                if (request.IsKeyed && !request.Completion.Task.IsCompleted) _unsent.AddFirst(request);
                else unknown.Add(request);
            }
            _sent.Clear();
            _impulses.Clear();
        }
        foreach (ClientRequest request in unknown)
        {
            request.Completion.TrySetException(
                new OutcomeUnknownException(
                    $"The connection was lost before it was known what became of a message ({why}): it takes effect once or never. Give it a key, and it is repeated until that is known."));
            left(request);
        }
    }

    /// <summary>Fails the requests that wait to be sent, since the instance does not accept this client.</summary>
    internal void Refused(Exception why)
    {
        ClientRequest[] waiting;
        using (_gate.Enter())
        {
            waiting = [.. _unsent];
            _unsent.Clear();
        }
        foreach (ClientRequest request in waiting)
        {
            request.Completion.TrySetException(why);
            left(request);
        }
    }

    /// <summary>Fails everything and accepts no more requests.</summary>
    internal void End(Exception why)
    {
        using (_gate.Enter())
        {
            if (_ended is not null) return;
            _ended = why;
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

/// <summary>
/// A request is one message on its way. It is encoded once, and is sent again on another connection only if it has a key. Its state is
/// guarded by the lock of <see cref="InFlightRequests"/>.
/// </summary>
/// <param name="message">Whole message, its length included (protocol P3.3).</param>
/// <param name="bodyBytes">Bytes of the message without the length, which the message limit counts.</param>
internal sealed class ClientRequest(bool isImpulse, bool isKeyed, byte[] message, int bodyBytes)
{
    internal bool IsImpulse => isImpulse;

    internal bool IsKeyed => isKeyed;

    internal byte[] Message => message;

    internal int BodyBytes => bodyBytes;

    /// <summary>The method's name with its contract; null where only the number is known.</summary>
    internal string? Name { get; init; }

    /// <summary>
    /// The source completes with the answer, or for an impulse with no bytes when it is logged. Continuations never run on the connection's
    /// threads.
    /// </summary>
    internal TaskCompletionSource<byte[]> Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>A position behind the record of an impulse; defined when it is logged.</summary>
    internal Lsn LoggedAt { get; set; }

    /// <summary>The number on the present connection; 0 if the request was not sent there.</summary>
    internal ulong Number { get; set; }
}
