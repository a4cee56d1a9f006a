using System.Buffers;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// The queries of callers outside (protocol P10.9). It owns those that wait until the app has been given the log far enough, and those that
/// the app is answering. Any thread; one lock, under which nobody else is called. Invariants: at most <see cref="QueriesMax"/> queries and
/// <see cref="BytesMax"/> of arguments are here, and <see cref="AtTheAppMax"/> of them at the app; each is answered
/// once, or its caller is gone.
/// </summary>
/// <param name="durable">Says how far the log is durable.</param>
/// <param name="wakeApp">Hears that the app may have something to answer.</param>
internal sealed class PendingQueries(TimeProvider time, Func<Lsn> durable, Action wakeApp)
{
    public const int QueriesMax = 4096;
    public const long BytesMax = 64 << 20;

    /// <summary>It is small, so that records do not wait for a flood of queries, nor an app's output behind their answers.</summary>
    public const int AtTheAppMax = 64;

    /// <summary>A query that two sessions of the app did not survive is not given to a third.</summary>
    private const int EndingsMax = 2;

    /// <summary>The lowest gate: there is no state before the first record.</summary>
    private static readonly Lsn s_first = new(1);

    private readonly RankedLock _gate = new(LockRank.PendingQueries);
    private readonly SortedDictionary<(Lsn Gate, ulong Id), ClientQuery> _waiting = [];
    private readonly Dictionary<ulong, ClientQuery> _atTheApp = [];
    private readonly ArrayBufferWriter<byte> _frame = new();
    private ulong _lastId, _ready = ulong.MaxValue;
    private long _bytes, _earliest = long.MaxValue;

    /// <summary>Queries under way.</summary>
    public int Count { get { using (_gate.Enter()) return _waiting.Count + _atTheApp.Count; } }

    /// <summary>Keeps a query until the app can answer it; if there are too many already, it is answered so at once.</summary>
    public void Ask(ClientSession session, in QueryFrame query)
    {
        if (TryKeep(session, query)) wakeApp();
        else session.Answer(QueryAnswerFrame.NotNow(query.Query, durable(), "too much is asked of this replica at the moment"));
    }

    private bool TryKeep(ClientSession session, in QueryFrame query)
    {
        Lsn known = durable();
        Lsn behind = Lsn.Max(query.Position, known);
        long until = In(Math.Min(query.PatienceMs, QueryFrame.PatienceMsMax));
        using (_gate.Enter())
        {
            if (_waiting.Count + _atTheApp.Count == QueriesMax || (_bytes > 0 && _bytes + query.Arguments.Length > BytesMax)) return false;
            var asked = new ClientQuery(++_lastId, session, query, Lsn.Max(behind, s_first), until);
            _bytes += asked.Arguments.Length;
            Wait(asked);
        }
        return true;
    }

    /// <summary>
    /// Some query may be given to an app that has been given everything below <paramref name="given"/>. Without the
    /// lock: asked before each send.
    /// </summary>
    public bool HasReady(Lsn given) => Volatile.Read(ref _ready) <= given.Value;

    /// <summary>Gives the app what it may answer now.</summary>
    /// <param name="given">Every record below has been given to the app, and none behind.</param>
    public void Give(Lsn given, FrameQueue to)
    {
        using (_gate.Enter())
        {
            while (_atTheApp.Count < AtTheAppMax && _waiting.Count > 0 && _waiting.First().Value is { } next && next.Gate <= given)
            {
                _waiting.Remove((next.Gate, next.Id));
                _atTheApp.Add(next.Id, next);
                _frame.ResetWrittenCount();
                new QueryFrame(next.Id, next.Position, 0, next.Method, next.Arguments).Write(_frame);
                to.Write(FrameType.Query, _frame.WrittenSpan);
            }
            FindReady();
        }
    }

    /// <summary>The app has answered; true: others may be given now.</summary>
    /// <param name="delivered">End of the last record that it was given.</param>
    /// <exception cref="ProtocolViolation">P5.18.</exception>
    public bool Answered(in QueryAnswerFrame answer, Lsn delivered)
    {
        ClientQuery? asked;
        bool isWaiting;
        using (_gate.Enter())
        {
            if (!_atTheApp.Remove(answer.Query, out asked))
                throw new ProtocolViolation("P5.18", $"an answer to query {answer.Query}, which the app was not asked");
            if (answer.Status == QueryStatus.NotNow) throw new ProtocolViolation("P5.18", "the app does not answer a query");
            if (answer.Position < asked.Position || (answer.Position > asked.Position && answer.Position > delivered))
                throw new ProtocolViolation("P5.18",
                    $"a query of position {asked.Position} is answered at {answer.Position}; the app was given the log up to {delivered}");
            _bytes -= asked.Arguments.Length;
            FindReady();
            isWaiting = _waiting.Count > 0;
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
        var given = new List<ClientQuery>();
        long until = In(QueryFrame.PatienceMsMax);
        using (_gate.Enter())
        {
            foreach (ClientQuery asked in _atTheApp.Values)
            {
                asked.Until = until;
                if (!asked.IsForgotten && ++asked.Endings < EndingsMax) Wait(asked);
                else
                {
                    _bytes -= asked.Arguments.Length;
                    if (!asked.IsForgotten) given.Add(asked);
                }
            }
            _atTheApp.Clear();
            FindReady();
        }
        foreach (ClientQuery asked in given) asked.Session.Answer(EndedTheApp(asked));
    }

    /// <summary>The caller is gone.</summary>
    public void Forget(ClientSession session)
    {
        using (_gate.Enter())
        {
            foreach (ClientQuery asked in _waiting.Values.Where(each => each.Session == session).ToArray()) Drop(asked);
            foreach (ClientQuery asked in _atTheApp.Values.Where(each => each.Session == session)) asked.IsForgotten = true;
            FindReady();
        }
    }

    /// <summary>Somebody's patience may come to its end.</summary>
    public bool IsAwaited => Volatile.Read(ref _earliest) != long.MaxValue;

    /// <summary>Tells those whose patience is over. Called a few times a second.</summary>
    public void Tick()
    {
        long now = time.GetTimestamp();
        if (Volatile.Read(ref _earliest) > now) return;
        ClientQuery[] over;
        using (_gate.Enter())
        {
            over = [.. _waiting.Values.Where(each => each.Until <= now)];
            foreach (ClientQuery asked in over) Drop(asked);
            _earliest = _waiting.Count == 0 ? long.MaxValue : _waiting.Values.Min(static each => each.Until);
            FindReady();
        }
        Lsn known = durable();
        foreach (ClientQuery asked in over)
            asked.Session.Answer(QueryAnswerFrame.NotNow(asked.Number, known, asked.Position > known
                ? $"this replica knows the log up to {known}, and {asked.Position} is asked for"
                : $"this replica's app has not executed the log up to {asked.Gate} yet"));
    }

    private long In(uint ms) => time.GetTimestamp() + time.TimestampFrequency * ms / 1000;

    private void Wait(ClientQuery asked)
    {
        _waiting.Add((asked.Gate, asked.Id), asked);
        if (asked.Until < _earliest) Volatile.Write(ref _earliest, asked.Until);
        FindReady();
    }

    private void Drop(ClientQuery asked)
    {
        _waiting.Remove((asked.Gate, asked.Id));
        _bytes -= asked.Arguments.Length;
    }

    private void FindReady() =>
        Volatile.Write(ref _ready, _waiting.Count == 0 || _atTheApp.Count >= AtTheAppMax ? ulong.MaxValue : _waiting.First().Key.Gate.Value);

    private static QueryAnswerFrame EndedTheApp(ClientQuery asked)
    {
        var failure = new ArrayBufferWriter<byte>();
        var writer = new CborWriter(failure);
        ListedFailures.AppEnded(EndingsMax).Write(ref writer);
        writer.Flush();
        return new QueryAnswerFrame(asked.Number, QueryStatus.Failure, asked.Position, failure.WrittenSpan);
    }
}

/// <summary>
/// A query that a caller outside has asked. It holds the arguments until it is answered. The lock of <see cref="PendingQueries"/> guards
/// what changes.
/// </summary>
/// <param name="id">The query's number as the app knows it.</param>
/// <param name="gate">What was durable when the query came, if that is above the position that it asks for.</param>
/// <param name="until">The timestamp at which the patience of who asked ends.</param>
internal sealed class ClientQuery(ulong id, ClientSession session, in QueryFrame query, Lsn gate, long until)
{
    /// <summary>The query's number as the app knows it. Ids grow in the order of arrival.</summary>
    public ulong Id { get; } = id;

    /// <summary>The session that asked.</summary>
    public ClientSession Session { get; } = session;

    /// <summary>The query's number in its session.</summary>
    public ulong Number { get; } = query.Query;

    /// <summary>The position that the caller asks for: every record below it is executed before the answer.</summary>
    public Lsn Position { get; } = query.Position;

    /// <summary>
    /// The app answers once it was given every record below this, too. It may lie behind empty pages, which other replicas do not hear of,
    /// so it is nobody's position.
    /// </summary>
    public Lsn Gate { get; } = gate;

    public uint Method { get; } = query.Method;

    public byte[] Arguments { get; } = query.Arguments.ToArray();

    /// <summary>The timestamp at which the patience of who asked ends.</summary>
    public long Until { get; set; } = until;

    /// <summary>The number of app sessions that were given the query and ended without an answer.</summary>
    public int Endings { get; set; }

    /// <summary>True when the caller is gone: the answer, when it comes, is nobody's.</summary>
    public bool IsForgotten { get; set; }
}
