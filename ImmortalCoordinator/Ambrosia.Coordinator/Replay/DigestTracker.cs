using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Watches determinism: what the app has emitted at each digest position, against what the log says of the same position. A position
/// whose record was lost in a crash is skipped. Bounded by the app's lag, one entry a MiB of log. Any thread.
/// </summary>
/// <param name="logFrom">Positions from here on are logged by us; older ones were, or were lost. Null: a secondary,
/// which logs none.</param>
internal sealed class DigestTracker(Lsn? logFrom)
{
    private readonly RankedLock _gate = new(LockRank.DigestTracker);
    private readonly SortedDictionary<Lsn, DigestRecord> _computed = [];
    private readonly SortedDictionary<Lsn, (DigestRecord Record, BuildId? By)> _recorded = [];
    private Lsn? _logFrom = logFrom;
    private Lsn _logged;

    /// <summary>This replica is primary now: positions from here on are its to log.</summary>
    public void LogFrom(Lsn position)
    {
        using (_gate.Enter()) _logFrom = position;
    }

    /// <summary>Hears of a difference, under no lock, and says whether execution goes on all the same; null: it never does.</summary>
    public Func<string, bool>? Tolerates { get; init; }

    /// <summary>
    /// Says of another build, which has executed the log up to a position, whether the app may have made other calls and given other
    /// answers by there, since somebody has accepted that. It is asked under no lock, where they differ; null: none may.
    /// </summary>
    public Func<BuildId, Lsn, bool>? MayDiffer { get; set; }

    /// <summary>Positions compared and found equal since the start.</summary>
    public long Compared { get { using (_gate.Enter()) return _compared; } }

    private long _compared;

    /// <summary>Up to here all calls of the running session were the log's: a channel's hash is over everything before.</summary>
    public Lsn Confirmed { get { using (_gate.Enter()) return _confirmed; } }

    private Lsn _confirmed, _begun;

    /// <summary>The session's app began with the state as of here.</summary>
    public Lsn Began { get { using (_gate.Enter()) return _begun; } }

    /// <summary>The stretch of the log in which the app has made other calls than the log's. It is null as long as there is none.</summary>
    public DivergedStretch? Diverged { get { using (_gate.Enter()) return _diverged; } }

    private DivergedStretch? _diverged;

    /// <summary>What the log says of a position shows that the app diverged before it, before any digest could.</summary>
    public void Diverge(Lsn position)
    {
        using (_gate.Enter()) _diverged ??= new DivergedStretch(Begin, position, []);
    }

    private Lsn Begin => Lsn.Max(_confirmed, _begun);

    /// <param name="from">The session's app begins with the state as of here.</param>
    public void BeginSession(Lsn from)
    {
        using (_gate.Enter())
        {
            (_begun, _confirmed) = (from, Lsn.Zero); // what the session before has agreed on says nothing of this one's app
            _computed.Clear();
            _recorded.Clear();
        }
    }

    /// <summary>The app stands at a position; true: the record is to be logged.</summary>
    /// <exception cref="DivergenceException">The log says otherwise.</exception>
    public bool Computed(DigestRecord own)
    {
        bool isSame = true, isToLog;
        (DigestRecord Record, BuildId? By) expected;
        using (_gate.Enter())
        {
            if (_recorded.Remove(own.Position, out expected)) isSame = IsSame(own, expected.Record);
            else _computed[own.Position] = own;
            isToLog = _logFrom is { } from && own.Position >= from && own.Position > _logged;
            if (isToLog) _logged = own.Position;
        }
        if (!isSame) Differs(own, expected.Record, expected.By);
        return isToLog;
    }

    /// <summary>Delivery meets a record.</summary>
    /// <param name="by">Another build than the app's has executed this stretch of the log; null: none that is known.</param>
    /// <exception cref="DivergenceException">The app emitted something else.</exception>
    public void Recorded(DigestRecord record, BuildId? by = null)
    {
        bool isSame = true;
        DigestRecord? own;
        using (_gate.Enter())
        {
            if (record.Position > _logged) _logged = record.Position;
            while (_computed.Count > 0 && _computed.First().Key < record.Position) _computed.Remove(_computed.First().Key);
            if (_computed.Remove(record.Position, out own)) isSame = IsSame(own, record);
            else _recorded[record.Position] = (record, by);
        }
        if (!isSame) Differs(own!, record, by);
    }

    private bool IsSame(DigestRecord own, DigestRecord expected)
    {
        if (!own.HasOutputsOf(expected)) return false;
        _compared++;
        if (own.Position > _confirmed) _confirmed = own.Position;
        return true;
    }

    private void Differs(DigestRecord own, DigestRecord expected, BuildId? by)
    {
        if (by is { } other && MayDiffer?.Invoke(other, own.Position) == true) return;
        string differs;
        using (_gate.Enter())
        {
            _diverged ??= new DivergedStretch(Begin, own.Position, expected.Entries);
            differs =
                $"{DivergenceException.Cause}: replay differs at log position {own.Position}: {Difference(own, expected)}. What the app was given last stands in the log between {Begin}, where it agreed, and there: " +
                    $"'ambrosia log DIR --from {Begin} --to {own.Position}' lists it. The app must emit the same calls and answers for the same inputs.";
        }
        if (Tolerates?.Invoke(differs) != true) throw new DivergenceException(differs);
    }

    private static string Difference(DigestRecord own, DigestRecord expected)
    {
        if (expected.Entries.Cast<DigestEntry?>().FirstOrDefault(e => !own.Entries.Contains(e!.Value)) is { } e)
            return $"the log says {e.Count} calls with hash {e.Hash:x16} to {e.Destination}, the app emitted " +
                own.Entries.Where(o => o.Destination == e.Destination).Select(o => $"{o.Count} with {o.Hash:x16}")
                    .FirstOrDefault("nothing new");
        return own.Answers == expected.Answers ? "the app emitted to a destination that the log does not name"
            : $"the log says {expected.Answers.Count} answers to callers outside with hash {expected.Answers.Hash:x16}, " +
              $"the app gave {own.Answers.Count} with {own.Answers.Hash:x16}";
    }
}
