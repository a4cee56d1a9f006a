// What a client asks, over its one or two connections: which road a query takes, what was sent on it, and what came back. Any thread; one
// lock. Invariants: a try is on one road or waits for one; it ends once, with an answer, a failure, or why there is none; on each road
// queries are numbered 1, 2, … of the present connection.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Client;

/// <param name="saw">Told of each position that an answer states.</param>
internal sealed class QueryDesk(QuerySource source, Action<Lsn> saw)
{
    /// <summary>Queries go together up to this size.</summary>
    private const int FramesBytesTarget = 64 * 1024;

    private readonly Lock gate = new();
    private readonly Lane[] lanes = [new(), new()];
    private readonly List<QueryTry> waiting = [];
    private Exception? ended;

    /// <summary>A connection to a secondary is wanted. Set before the first query; called outside the lock.</summary>
    internal Action WantSecondary { get; set; } = static () => { };

    /// <summary>A connection to a secondary would be of use now.</summary>
    internal bool NeedsSecondary
    {
        get
        {
            lock (gate) return ended is null && (source == QuerySource.Secondaries || (source == QuerySource.Any && waiting.Count > 0));
        }
    }

    internal void Ask(QueryTry query)
    {
        Lane? lane;
        lock (gate)
        {
            if (ended is null) lane = Send(query);
            else
            {
                query.Completion.TrySetException(ended);
                return;
            }
        }
        if (lane is not null) lane.Wake();
        if (source == QuerySource.Secondaries || (lane is null && source == QuerySource.Any)) WantSecondary();
    }

    /// <summary>Nobody waits for it any more.</summary>
    internal void Abandon(QueryTry query)
    {
        lock (gate)
        {
            waiting.Remove(query);
            foreach (Lane lane in lanes) lane.Unsent.Remove(query); // what was sent is answered, and the answer finds nobody
        }
    }

    /// <summary>A connection is open: its numbers begin with 1.</summary>
    internal void Opened(QueryRoad road, Action wake)
    {
        lock (gate)
        {
            Lane lane = lanes[(int)road];
            if (lane.IsOpen) throw new InvalidOperationException("two connections of one road at a time");
            lane.IsOpen = true;
            lane.Last = 0;
            lane.Wake = wake;
            QueryTry[] all = [.. waiting];
            waiting.Clear();
            foreach (QueryTry query in all) Send(query);
        }
        wake();
    }

    /// <summary>The next queries as frames, so that no more than <paramref name="underWayMax"/> are under way.</summary>
    /// <param name="messageBytesMax">The instance takes no more arguments (P5.18): a query with more fails here, since it would end
    /// every connection.</param>
    internal void Take(QueryRoad road, uint underWayMax, uint messageBytesMax, uint seed, IBufferWriter<byte> frames)
    {
        var payload = new ArrayBufferWriter<byte>();
        lock (gate)
        {
            Lane lane = lanes[(int)road];
            for (int written = 0; lane.Unsent.First?.Value is { } next && (uint)lane.Sent.Count < underWayMax
                && written < FramesBytesTarget; written += payload.WrittenCount)
            {
                lane.Unsent.RemoveFirst();
                payload.ResetWrittenCount();
                if (next.Arguments.Length > messageBytesMax)
                {
                    next.Completion.TrySetException(new MessageTooLongException(next.Arguments.Length, messageBytesMax));
                    continue;
                }
                lane.Sent.Add(++lane.Last, next);
                new QueryFrame(lane.Last, next.Position, next.PatienceMs, next.Method, next.Arguments).Write(payload);
                Frames.Write(frames, FrameType.Query, payload.WrittenSpan, seed, checkPayload: true);
            }
        }
    }

    /// <exception cref="ProtocolViolation">P10.9.</exception>
    internal void Answered(QueryRoad road, in QueryAnswerFrame answer)
    {
        QueryTry? query;
        lock (gate)
        {
            if (!lanes[(int)road].Sent.Remove(answer.Query, out query))
                throw new ProtocolViolation("P10.9", $"an answer to query {answer.Query}, which nobody asked");
        }
        if (answer.Status != QueryStatus.NotNow && answer.Position < query.Position)
            throw new ProtocolViolation("P10.9", $"a query of position {query.Position} is answered at {answer.Position}");
        if (answer.Status == QueryStatus.NotNow)
        {
            query.Completion.TrySetResult(new QueryOutcome(null, answer.Position, answer.Why, road));
            return;
        }
        saw(answer.Position);
        if (answer.Status == QueryStatus.Failure) query.Completion.TrySetException(RequestFailedException.Of(answer.Answer));
        else query.Completion.TrySetResult(new QueryOutcome(answer.Answer.ToArray(), answer.Position, "", road));
    }

    /// <summary>The connection is gone: a query changes nothing, so it is asked again elsewhere.</summary>
    internal void Lost(QueryRoad road, string why)
    {
        QueryTry[] all;
        lock (gate)
        {
            Lane lane = lanes[(int)road];
            lane.IsOpen = false;
            all = [.. lane.Sent.Values, .. lane.Unsent];
            lane.Sent.Clear();
            lane.Unsent.Clear();
        }
        foreach (QueryTry query in all) query.Completion.TrySetResult(new QueryOutcome(null, default, why, road));
    }

    /// <summary>No more queries.</summary>
    internal void End(Exception why)
    {
        QueryTry[] all;
        lock (gate)
        {
            ended ??= why;
            all = [.. waiting, .. lanes.SelectMany(static lane => lane.Sent.Values.Concat(lane.Unsent))];
            waiting.Clear();
        }
        foreach (QueryTry query in all) query.Completion.TrySetException(why);
    }

    /// <summary>Null: it waits until there is a road.</summary>
    private Lane? Send(QueryTry query)
    {
        Lane? lane = Choose(query);
        if (lane is null) waiting.Add(query);
        else lane.Unsent.AddLast(query);
        return lane;
    }

    private Lane? Choose(QueryTry query)
    {
        QueryRoad first = source == QuerySource.Secondaries ? QueryRoad.Secondary : QueryRoad.Primary;
        if (query.Avoid == first && source != QuerySource.Primary) first = 1 - first;
        if (lanes[(int)first].IsOpen) return lanes[(int)first];
        return source != QuerySource.Primary && lanes[1 - (int)first].IsOpen ? lanes[1 - (int)first] : null;
    }

    private sealed class Lane
    {
        internal bool IsOpen { get; set; }

        internal Action Wake { get; set; } = static () => { };

        internal LinkedList<QueryTry> Unsent { get; } = [];

        internal Dictionary<ulong, QueryTry> Sent { get; } = [];

        internal ulong Last { get; set; }
    }
}
