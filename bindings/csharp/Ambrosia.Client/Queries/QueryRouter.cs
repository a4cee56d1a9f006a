using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Client.Queries;

/// <summary>
/// Routes a client's queries over its one or two connections: it chooses the target of each query, and owns what waits, what was sent, and
/// what came back. Any thread may call it; one lock guards it. Invariants: an attempt has one target or waits for one; it ends once, with
/// an answer, a failure, or the reason why there is neither; on each connection queries are numbered from 1 without gaps.
/// </summary>
/// <param name="saw">Called with each position that an answer states.</param>
/// <param name="wantSecondary">Asks for a connection to a secondary; it is called outside the lock.</param>
internal sealed class QueryRouter(QuerySource source, Action<Lsn> saw, Action wantSecondary)
{
    /// <summary>Queries are sent together up to this size in bytes.</summary>
    private const int FramesBytesTarget = 64 * 1024;

    private readonly RankedLock _gate = new(LockRank.QueryRouter);
    private readonly TargetQueue[] _queues = [new(), new()];
    private readonly List<QueryAttempt> _waiting = [];
    private Exception? _ended;

    /// <summary>True while a connection to a secondary would be of use.</summary>
    internal bool NeedsSecondary
    {
        get
        {
            using (_gate.Enter())
                return _ended is null && (source == QuerySource.Secondaries || (source == QuerySource.Any && _waiting.Count > 0));
        }
    }

    /// <summary>Sends an attempt to its target, or lets it wait for one. Its completion tells the outcome.</summary>
    internal void Ask(QueryAttempt query)
    {
        TargetQueue? queue;
        using (_gate.Enter())
        {
            if (_ended is null) queue = Send(query);
            else
            {
                query.Completion.TrySetException(_ended);
                return;
            }
        }
        LockChecks.BeforeCallOut();
        if (queue is not null) queue.Wake();
        if (source == QuerySource.Secondaries || (queue is null && source == QuerySource.Any)) wantSecondary();
    }

    /// <summary>Drops an attempt for which nobody waits any more.</summary>
    internal void Abandon(QueryAttempt query)
    {
        using (_gate.Enter())
        {
            _waiting.Remove(query);
            foreach (TargetQueue queue in _queues) queue.Unsent.Remove(query); // what was sent is answered, and the answer finds nobody
        }
    }

    /// <summary>Begins a connection, on which numbers begin with 1, and sends what waited.</summary>
    internal void Opened(QueryTarget target, Action wake)
    {
        using (_gate.Enter())
        {
            TargetQueue queue = _queues[(int)target];
            if (queue.IsOpen) throw new InvalidOperationException("two connections to one target at a time");
            queue.IsOpen = true;
            queue.Last = 0;
            queue.Wake = wake;
            QueryAttempt[] all = [.. _waiting];
            _waiting.Clear();
            foreach (QueryAttempt query in all) Send(query);
        }
        LockChecks.BeforeCallOut();
        wake();
    }

    /// <summary>Writes the next queries as frames, so that no more than <paramref name="underWayMax"/> are in flight.</summary>
    /// <param name="messageBytesMax">Most bytes of arguments that the instance accepts (P5.18). A query with more fails here, since it
    /// would end every connection.</param>
    internal void Take(QueryTarget target, uint underWayMax, uint messageBytesMax, uint seed, IBufferWriter<byte> frames)
    {
        var payload = new ArrayBufferWriter<byte>();
        using (_gate.Enter())
        {
            TargetQueue queue = _queues[(int)target];
            for (int written = 0; queue.Unsent.First?.Value is { } next && (uint)queue.Sent.Count < underWayMax
                && written < FramesBytesTarget; written += payload.WrittenCount)
            {
                queue.Unsent.RemoveFirst();
                payload.ResetWrittenCount();
                if (next.Arguments.Length > messageBytesMax)
                {
                    next.Completion.TrySetException(new MessageTooLongException(next.Arguments.Length, messageBytesMax));
                    continue;
                }
                queue.Sent.Add(++queue.Last, next);
                new QueryFrame(queue.Last, next.Position, next.PatienceMs, next.Method, next.Arguments).Write(payload);
                FrameWriter.Write(frames, FrameType.Query, payload.WrittenSpan, seed, checkPayload: true);
            }
        }
    }

    /// <summary>Completes an attempt with what the replica answered.</summary>
    /// <exception cref="ProtocolViolation">P10.9.</exception>
    internal void Answered(QueryTarget target, in QueryAnswerFrame answer)
    {
        QueryAttempt? query;
        using (_gate.Enter())
        {
            if (!_queues[(int)target].Sent.Remove(answer.Query, out query))
                throw new ProtocolViolation("P10.9", $"an answer to query {answer.Query}, which nobody asked");
        }
        if (answer.Status != QueryStatus.NotNow && answer.Position < query.Position)
            throw new ProtocolViolation("P10.9", $"a query of position {query.Position} is answered at {answer.Position}");
        if (answer.Status == QueryStatus.NotNow)
        {
            query.Completion.TrySetResult(new QueryOutcome(null, answer.Position, answer.Why, target));
            return;
        }
        saw(answer.Position);
        if (answer.Status == QueryStatus.Failure) query.Completion.TrySetException(RequestFailedException.Of(answer.Answer));
        else query.Completion.TrySetResult(new QueryOutcome(answer.Answer.ToArray(), answer.Position, "", target));
    }

    /// <summary>Ends the attempts of a connection that is gone. A query changes nothing, so it is asked again elsewhere.</summary>
    internal void Lost(QueryTarget target, string why)
    {
        QueryAttempt[] all;
        using (_gate.Enter())
        {
            TargetQueue queue = _queues[(int)target];
            queue.IsOpen = false;
            all = [.. queue.Sent.Values, .. queue.Unsent];
            queue.Sent.Clear();
            queue.Unsent.Clear();
        }
        foreach (QueryAttempt query in all) query.Completion.TrySetResult(new QueryOutcome(null, default, why, target));
    }

    /// <summary>Fails everything and accepts no more queries.</summary>
    internal void End(Exception why)
    {
        QueryAttempt[] all;
        using (_gate.Enter())
        {
            _ended ??= why;
            all = [.. _waiting, .. _queues.SelectMany(static queue => queue.Sent.Values.Concat(queue.Unsent))];
            _waiting.Clear();
        }
        foreach (QueryAttempt query in all) query.Completion.TrySetException(why);
    }

    /// <summary>Gives the attempt to its target's queue; returns null when it waits until there is a target.</summary>
    private TargetQueue? Send(QueryAttempt query)
    {
        TargetQueue? queue = Choose(query);
        if (queue is null) _waiting.Add(query);
        else queue.Unsent.AddLast(query);
        return queue;
    }

    private TargetQueue? Choose(QueryAttempt query)
    {
        QueryTarget first = source == QuerySource.Secondaries ? QueryTarget.Secondary : QueryTarget.Primary;
        if (query.Avoid == first && source != QuerySource.Primary) first = 1 - first;
        if (_queues[(int)first].IsOpen) return _queues[(int)first];
        return source != QuerySource.Primary && _queues[1 - (int)first].IsOpen ? _queues[1 - (int)first] : null;
    }

    /// <summary>Holds the attempts of one target: those not sent yet, and those that were sent on the present connection.</summary>
    private sealed class TargetQueue
    {
        internal bool IsOpen { get; set; }

        internal Action Wake { get; set; } = static () => { };

        internal LinkedList<QueryAttempt> Unsent { get; } = [];

        internal Dictionary<ulong, QueryAttempt> Sent { get; } = [];

        internal ulong Last { get; set; }
    }
}
