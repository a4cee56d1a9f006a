using Ambrosia.Inspection.Records;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// Leads a search through the records of a log, live or a copy, in the memory of one page and one record. Only what the log states as
/// durable counts (log-format L7.5). Damage that is met on the way is thrown. A log that is truncated under the search is searched again.
/// </summary>
internal sealed class PlaceScan(LogLocation log)
{
    /// <summary>Chooses where reading begins.</summary>
    /// <param name="names">Gets the names of origins that are known there.</param>
    public delegate WalkStart Beginning(LogChain chain, OriginNames names);

    /// <summary>Reads the log for a search.</summary>
    /// <param name="make">Makes the search anew, for each time that the log is read.</param>
    /// <returns>The search, and where the log ends; null: the search has found what it wanted before.</returns>
    /// <exception cref="Log.Format.LogDamage">There is damage before the search has ended.</exception>
    public (TSearch Search, LogEnd? End) Run<TSearch>(Beginning begin, Func<OriginNames, TSearch> make) where TSearch : RecordSearch
    {
        for (Lsn? limit = null; ;)
        {
            LogChain chain = LogChain.Load(log.Files, log.Directory, log.Identity);
            var names = new OriginNames(log.Identity);
            WalkStart start = begin(chain, names);
            TSearch search = make(names);
            search.Limit = limit ?? search.Limit;
            switch (Read(chain, start, search))
            {
                case null: return (search, null);
                case ReadVerdict.Halt halt: throw halt.Damage;
                case ReadVerdict.Truncated: limit = null; break; // what was found may be gone
                case var end when limit is null && search.LastRecord >= end.DurableUpTo: limit = end.DurableUpTo; break;
                case var end: return (search, new LogEnd(limit ?? end.DurableUpTo, search.LastMicros));
            }
        }
    }

    /// <summary>Begins near a position; from there on every origin has its name.</summary>
    public Beginning Near(Lsn lsn) => (chain, names) => WalkStart.For(log, chain, lsn, names);

    /// <summary>Begins before the pages of this time.</summary>
    public Beginning Near(long timeMicros) => (chain, names) => WalkStart.For(log, chain, WalkStart.LsnOf(chain, timeMicros), names);

    /// <summary>Begins at the oldest page that is kept.</summary>
    public WalkStart Oldest(LogChain chain, OriginNames names) => WalkStart.For(log, chain, Lsn.Zero, names);

    /// <summary>Reads until what the search wants is found and stated as durable; returns null then, else how the log has ended.</summary>
    private ReadVerdict? Read(LogChain chain, WalkStart start, RecordSearch search)
    {
        var options = new ScanOptions { From = start.Page, PreviousHash = start.PreviousHash, EndsWithHead = true };
        using LogScan scan = LogScan.Open(log.Files, log.Directory, log.Identity, chain, options);
        var records = new RecordAssembler();
        Lsn? behind = null; // the end of the page in which the search has ended
        while (scan.Next())
        {
            if (behind is null && !records.Take(scan.Page, search.Pass)) behind = scan.Page.Next;
            if (behind <= scan.Stated) return null;
        }
        return behind <= scan.Stated ? null : scan.Verdict;
    }
}

/// <summary>A search looks at one record after another until it has found what it wants.</summary>
internal abstract class RecordSearch
{
    /// <summary>Records from here on do not count.</summary>
    public Lsn Limit { get; set; } = new(Lsn.Limit);

    /// <summary>The last record that was looked at; 0: none was.</summary>
    public Lsn LastRecord { get; private set; }

    /// <summary>The time of that record in µs; null: none was looked at.</summary>
    public long? LastMicros { get; private set; }

    /// <summary>Looks at a record, unless it stands behind the limit.</summary>
    /// <returns>False: no more records are wanted.</returns>
    public bool Pass(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch)
    {
        if (lsn >= Limit) return true;
        (LastRecord, LastMicros) = (lsn, timeMicros);
        return Take(lsn, kind, body, timeMicros, epoch);
    }

    /// <inheritdoc cref="Pass"/>
    protected abstract bool Take(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch);
}

/// <summary>Says where a log ends.</summary>
/// <param name="Lsn">Everything below is stated as durable.</param>
/// <param name="LastMicros">The time of the last record that was read, in µs since 1970; null: none was read.</param>
internal sealed record LogEnd(Lsn Lsn, long? LastMicros);
