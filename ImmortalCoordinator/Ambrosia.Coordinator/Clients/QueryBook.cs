using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What callers outside ask of this replica's state (protocol P10.9): what waits until the app has been given the log far enough, and what
/// the app is answering. Any thread; one lock, under which nobody else is called. Invariants: at most <see cref="QueriesMax"/> queries and
/// <see cref="BytesMax"/> of arguments are here, and <see cref="AtTheAppMax"/> of them at the app; each is answered
/// once, or its caller is gone.
/// </summary>
internal sealed class QueryBook(TimeProvider time, Func<Lsn> durable)
{
    public const int QueriesMax = 4096;
    public const long BytesMax = 64 << 20;

    /// <summary>So that records do not wait for a flood of queries, nor an app's output behind their answers.</summary>
    public const int AtTheAppMax = 64;

    /// <summary>A query that two sessions of the app did not survive is not given to a third.</summary>
    private const int EndingsMax = 2;

    /// <summary>Before the first record there is no state.</summary>
    private static readonly Lsn s_first = new(1);

    private readonly Lock gate = new();
    private readonly SortedDictionary<(Lsn Gate, ulong Id), AskedQuery> waiting = [];
    private readonly Dictionary<ulong, AskedQuery> atTheApp = [];
    private readonly ArrayBufferWriter<byte> frame = new();
    private ulong lastId, ready = ulong.MaxValue;
    private long bytes, earliest = long.MaxValue;

    /// <summary>Queries under way.</summary>
    public int Count { get { lock (gate) return waiting.Count + atTheApp.Count; } }

    /// <summary>False: there are too many; nothing was kept.</summary>
    public bool TryAsk(ClientSession session, in QueryFrame query)
    {
        Lsn known = durable();
        Lsn behind = Lsn.Max(query.Position, known);
        long until = In(Math.Min(query.PatienceMs, QueryFrame.PatienceMsMax));
        lock (gate)
        {
            if (waiting.Count + atTheApp.Count == QueriesMax || (bytes > 0 && bytes + query.Arguments.Length > BytesMax)) return false;
            var asked = new AskedQuery(++lastId, session, query.Query, query.Position, Lsn.Max(behind, s_first), query.Method,
                query.Arguments.ToArray(), until);
            bytes += asked.Arguments.Length;
            Wait(asked);
        }
        return true;
    }

    /// <summary>
    /// Some query may be given to an app that has been given everything below <paramref name="given"/>. Without the
    /// lock: asked before each send.
    /// </summary>
    public bool HasReady(Lsn given) => Volatile.Read(ref ready) <= given.Value;

    /// <summary>Gives the app what it may answer now.</summary>
    /// <param name="given">Every record below has been given to the app, and none behind.</param>
    public void Give(Lsn given, FrameQueue to)
    {
        lock (gate)
        {
            while (atTheApp.Count < AtTheAppMax && waiting.Count > 0 && waiting.First().Value is { } next && next.Gate <= given)
            {
                waiting.Remove((next.Gate, next.Id));
                atTheApp.Add(next.Id, next);
                frame.ResetWrittenCount();
                new QueryFrame(next.Id, next.Position, 0, next.Method, next.Arguments).Write(frame);
                to.Write(FrameType.Query, frame.WrittenSpan);
            }
            FindReady();
        }
    }

    /// <summary>The app has answered; true: others may be given now.</summary>
    /// <param name="delivered">End of the last record that it was given.</param>
    /// <exception cref="ProtocolViolation">P5.18.</exception>
    public bool Answered(in QueryAnswerFrame answer, Lsn delivered)
    {
        AskedQuery? asked;
        bool isWaiting;
        lock (gate)
        {
            if (!atTheApp.Remove(answer.Query, out asked))
                throw new ProtocolViolation("P5.18", $"an answer to query {answer.Query}, which the app was not asked");
            if (answer.Status == QueryStatus.NotNow) throw new ProtocolViolation("P5.18", "the app does not answer a query");
            if (answer.Position < asked.Position || (answer.Position > asked.Position && answer.Position > delivered))
                throw new ProtocolViolation("P5.18",
                    $"a query of position {asked.Position} is answered at {answer.Position}; the app was given the log up to {delivered}");
            bytes -= asked.Arguments.Length;
            FindReady();
            isWaiting = waiting.Count > 0;
        }
        if (!asked.IsForgotten) asked.Session.Answer(new QueryAnswerFrame(asked.Number, answer.Status, answer.Position, answer.Answer));
        return isWaiting;
    }

    /// <summary>
    /// A session of the app has ended: what it had not answered is given to the next one, but not for ever. It waits for that one beyond
    /// its patience: sent away it would come again as a new query, here or at another replica, and end one app after another.
    /// </summary>
    public void AppEnded()
    {
        var given = new List<AskedQuery>();
        long until = In(QueryFrame.PatienceMsMax);
        lock (gate)
        {
            foreach (AskedQuery asked in atTheApp.Values)
            {
                asked.Until = until;
                if (!asked.IsForgotten && ++asked.Endings < EndingsMax) Wait(asked);
                else
                {
                    bytes -= asked.Arguments.Length;
                    if (!asked.IsForgotten) given.Add(asked);
                }
            }
            atTheApp.Clear();
            FindReady();
        }
        foreach (AskedQuery asked in given) asked.Session.Answer(EndedTheApp(asked));
    }

    /// <summary>The caller is gone.</summary>
    public void Forget(ClientSession session)
    {
        lock (gate)
        {
            foreach (AskedQuery asked in waiting.Values.Where(each => each.Session == session).ToArray()) Drop(asked);
            foreach (AskedQuery asked in atTheApp.Values.Where(each => each.Session == session)) asked.IsForgotten = true;
            FindReady();
        }
    }

    /// <summary>Somebody's patience may come to its end.</summary>
    public bool IsAwaited => Volatile.Read(ref earliest) != long.MaxValue;

    /// <summary>Tells those whose patience is over. Called a few times a second.</summary>
    public void Tick()
    {
        long now = time.GetTimestamp();
        if (Volatile.Read(ref earliest) > now) return;
        AskedQuery[] over;
        lock (gate)
        {
            over = [.. waiting.Values.Where(each => each.Until <= now)];
            foreach (AskedQuery asked in over) Drop(asked);
            earliest = waiting.Count == 0 ? long.MaxValue : waiting.Values.Min(static each => each.Until);
            FindReady();
        }
        Lsn known = durable();
        foreach (AskedQuery asked in over)
            asked.Session.Answer(QueryAnswerFrame.NotNow(asked.Number, known, asked.Position > known
                ? $"this replica knows the log up to {known}, and {asked.Position} is asked for"
                : $"this replica's app has not executed the log up to {asked.Gate} yet"));
    }

    private long In(uint ms) => time.GetTimestamp() + time.TimestampFrequency * ms / 1000;

    private void Wait(AskedQuery asked)
    {
        waiting.Add((asked.Gate, asked.Id), asked);
        if (asked.Until < earliest) Volatile.Write(ref earliest, asked.Until);
        FindReady();
    }

    private void Drop(AskedQuery asked)
    {
        waiting.Remove((asked.Gate, asked.Id));
        bytes -= asked.Arguments.Length;
    }

    private void FindReady() =>
        Volatile.Write(ref ready, waiting.Count == 0 || atTheApp.Count >= AtTheAppMax ? ulong.MaxValue : waiting.First().Key.Gate.Value);

    private static QueryAnswerFrame EndedTheApp(AskedQuery asked)
    {
        var failure = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(failure);
        new FailureInfo("Ambrosia.AppEnded",
            $"The app ended {EndingsMax} times while it had this query to answer; perhaps the query ends it.", null).Write(ref writer);
        writer.Flush();
        return new QueryAnswerFrame(asked.Number, QueryStatus.Failure, asked.Position, failure.WrittenSpan);
    }
}
