using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Watches determinism: what the app has emitted at each digest position, against what the log says of the same position. A position
/// whose record was lost in a crash is skipped. Bounded by the app's lag, one entry a MiB of log. Any thread.
/// </summary>
/// <param name="logFrom">Positions from here on are logged by us; older ones were, or were lost. Null: a secondary,
/// which logs none.</param>
internal sealed class DigestBook(Lsn? logFrom)
{
    private readonly Lock gate = new();
    private readonly SortedDictionary<Lsn, DigestRecord> computed = [];
    private readonly SortedDictionary<Lsn, DigestRecord> recorded = [];
    private Lsn? logFrom = logFrom;
    private Lsn logged;

    /// <summary>This replica is primary now: positions from here on are its to log.</summary>
    public void LogFrom(Lsn position)
    {
        lock (gate) logFrom = position;
    }

    /// <summary>Positions compared and found equal since the start.</summary>
    public long Compared { get { lock (gate) return compared; } }

    private long compared;

    /// <summary>Up to here all calls were the log's: a channel's hash is over everything before.</summary>
    public Lsn Confirmed { get { lock (gate) return confirmed; } }

    private Lsn confirmed, begun;

    /// <summary>Where the app has made other calls than the log's; null: nowhere yet.</summary>
    public DivergedStretch? Diverged { get { lock (gate) return diverged; } }

    private DivergedStretch? diverged;

    /// <summary>What the log says of a position shows that the app diverged before it, before any digest could.</summary>
    public void Diverge(Lsn position)
    {
        lock (gate) diverged ??= new DivergedStretch(Begin, position, []);
    }

    private Lsn Begin => Lsn.Max(confirmed, begun);

    /// <param name="from">The session's app begins with the state as of here.</param>
    public void BeginSession(Lsn from)
    {
        lock (gate)
        {
            begun = from;
            computed.Clear();
            recorded.Clear();
        }
    }

    /// <summary>The app stands at a position; true: the record is to be logged.</summary>
    /// <exception cref="DivergenceException">The log says otherwise.</exception>
    public bool Computed(DigestRecord own)
    {
        lock (gate)
        {
            if (recorded.Remove(own.Position, out DigestRecord? expected)) Compare(own, expected);
            else computed[own.Position] = own;
            if (logFrom is not { } from || own.Position < from || own.Position <= logged) return false;
            logged = own.Position;
            return true;
        }
    }

    /// <summary>Delivery meets a record.</summary>
    /// <exception cref="DivergenceException">The app emitted something else.</exception>
    public void Recorded(DigestRecord record)
    {
        lock (gate)
        {
            if (record.Position > logged) logged = record.Position;
            while (computed.Count > 0 && computed.First().Key < record.Position) computed.Remove(computed.First().Key);
            if (computed.Remove(record.Position, out DigestRecord? own)) Compare(own, record);
            else recorded[record.Position] = record;
        }
    }

    private void Compare(DigestRecord own, DigestRecord expected)
    {
        compared++;
        if (own.Entries.SequenceEqual(expected.Entries))
        {
            if (own.Position > confirmed) confirmed = own.Position;
            return;
        }
        diverged ??= new DivergedStretch(Begin, own.Position, expected.Entries);
        DigestEntry? differs = expected.Entries.Cast<DigestEntry?>().FirstOrDefault(e => !own.Entries.Contains(e!.Value));
        string what = differs is { } e
            ? $"the log says {e.Count} calls with hash {e.Hash:x16} to {e.Destination}, the app emitted " +
              own.Entries.Where(o => o.Destination == e.Destination).Select(o => $"{o.Count} with {o.Hash:x16}")
                  .FirstOrDefault("nothing new")
            : "the app emitted to a destination that the log does not name";
        throw new DivergenceException(
            $"replay differs at log position {own.Position}: {what}. What the app was given last stands in the log between {Begin}, where it agreed, and there: " +
                $"'ambrosia log DIR --from {Begin} --to {own.Position}' lists it. The app must emit the same calls for the same inputs.");
    }
}
