using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// Reads what stands at places of a log, where the log begins and where it ends. Refusals offer places that are there.
/// </summary>
internal sealed class PlaceReader(LogLocation log, ContractManifests contracts)
{
    private const int StringBytesShown = 256;

    private readonly MessageFormatter _text = new(contracts, StringBytesShown);

    public PlaceScan Scan { get; } = new(log);

    /// <summary>Describes a place at which a message or a record was found.</summary>
    public FoundPlace Describe(MessagePlace place)
    {
        LogEntry? entry = EntryAt(place);
        return new FoundPlace { Place = place, Entry = entry, TimeMicros = entry?.TimeMicros };
    }

    /// <summary>Describes the first message or record at a place or behind it, or else the end of the log.</summary>
    public FoundPlace AtOrBehind(MessagePlace place)
    {
        using LogFollower tail = Tail();
        if (tail.Stated > Lsn.Zero && place.Record >= tail.Stated) return End(tail); // else all that leads there would be read
        (PositionSearch search, LogEnd? end) = Scan.Run(
            Scan.Near(place.Record), names => new PositionSearch(names, place, wantsBefore: false));
        return search.Found is { } found ? Describe(found) : EndAt(end!);
    }

    /// <summary>Describes a position at which execution can stop although nothing may stand there, as that of a checkpoint.</summary>
    public FoundPlace Before(Lsn position)
    {
        FoundPlace next = AtOrBehind(new MessagePlace(position, 0));
        return next with { Place = new MessagePlace(position, 0) };
    }

    /// <summary>Describes the end of what is stated as durable.</summary>
    public FoundPlace End()
    {
        using LogFollower tail = Tail();
        return End(tail);
    }

    /// <summary>Headers of pages lead to the end, so that of a long segment the last pages are read.</summary>
    private LogFollower Tail()
    {
        var tail = new LogFollower(log.Files, log.Directory, log.Identity);
        while (tail.Step()) { }
        return tail;
    }

    private FoundPlace End(LogFollower tail)
    {
        for (int back = 1; ; back *= 2)
        {
            int kept = 0;
            (_, LogEnd? end) = Scan.Run((chain, _) => LastOf(chain, back, tail.LastRecords, out kept), static _ => new EndSearch());
            if (end!.LastMicros is not null || back >= kept) return EndOf(end.Lsn, end.LastMicros);
        }
    }

    /// <summary>Describes an end that a search has come to.</summary>
    public FoundPlace EndAt(LogEnd end) => EndOf(end.Lsn, end.LastMicros ?? End().TimeMicros);

    /// <summary>
    /// Returns the position from which execution can begin: the log's first, or that of the oldest checkpoint that leads into what is kept.
    /// </summary>
    /// <exception cref="LogDamage">There is neither.</exception>
    public Lsn Start()
    {
        while (true)
        {
            LogChain chain = LogChain.Load(log.Files, log.Directory, log.Identity);
            if (chain.Segments.IsEmpty || chain.Segments[0].Header.PredecessorNumber == 0) return Lsn.Zero;
            foreach (CheckpointFileName name in CheckpointDirectory.List(log.Files, log.Directory).Reverse())
                if (CheckpointReader.TryReadHeader(log, name) is { } header && header.PageLsn >= chain.Segments[0].FirstLsn)
                    return name.Lsn;
            LogBeginning.Check(log, chain.Segments[0]); // throws, unless a live log was truncated meanwhile
        }
    }

    /// <summary>
    /// Finds the last place before another one. Reading begins near it, so that of a long log two segments are read.
    /// </summary>
    public MessagePlace? LastBefore(MessagePlace place)
    {
        for (int back = 1; ; back *= 2)
        {
            int kept = 0;
            (PositionSearch search, _) = Scan.Run((chain, names) => SegmentsBefore(chain, names, place.Record, back, out kept),
                names => new PositionSearch(names, place, wantsBefore: true));
            if (search.Before is not null || back >= kept) return search.Before;
        }
    }

    /// <summary>Makes a refusal that offers the nearest places that are there.</summary>
    public static MisuseException Refusal(string what, string why, params IEnumerable<string> offers)
    {
        string[] there = [.. offers];
        return new MisuseException(what, why, there.Length == 1 ? $"the nearest is {there[0]}" : $"the nearest are {string.Join(" and ", there)}");
    }

    /// <summary>Offers the two ends of what can be executed.</summary>
    public string[] OfferBoth() => [$"start, {Before(Start()).ToOffer()}", $"end, {End().ToOffer()}"];

    public string Offer(MessagePlace place) => Describe(place).ToOffer();

    private LogEntry? EntryAt(MessagePlace place)
    {
        var filter = new EntryFilter(place.Record, place.Record + 1, null, null, Index: place.Index);
        return Scan.Run(Scan.Near(place.Record), names => new EntrySearch(new EntryReader(names, _text, filter))).Search.Entry;
    }

    private static FoundPlace EndOf(Lsn lsn, long? micros) =>
        new() { Place = new MessagePlace(lsn, 0), IsEnd = true, TimeMicros = micros };

    /// <summary>Begins at one of the last segments, where the names of origins do not matter.</summary>
    /// <param name="last">This page of the head segment serves, if it is in it; null: its first one does.</param>
    private static WalkStart LastOf(LogChain chain, int back, Lsn? last, out int kept)
    {
        kept = chain.Segments.Length;
        if (back == 1 && last is { } page && kept > 0 && page >= chain.Segments[^1].FirstLsn) return new WalkStart(page, null);
        return new WalkStart(back < kept ? chain.Segments[^back].FirstLsn : null, null);
    }

    private WalkStart SegmentsBefore(LogChain chain, OriginNames names, Lsn lsn, int back, out int kept)
    {
        kept = chain.Segments.Length;
        int at = chain.TryFind(lsn, out LogSegment segment, out _) ? chain.Segments.IndexOf(segment) : 0;
        return at - back < 0 ? Scan.Oldest(chain, names) : WalkStart.For(log, chain, chain.Segments[at - back].FirstLsn, names);
    }

    /// <summary>Wants nothing, so that it comes to the end.</summary>
    private sealed class EndSearch : RecordSearch
    {
        protected override bool Take(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch) => true;
    }

    /// <summary>Decodes the one entry that a reader lets through.</summary>
    private sealed class EntrySearch(EntryReader reader) : RecordSearch
    {
        public LogEntry? Entry { get; private set; }

        protected override bool Take(Lsn lsn, RecordKind kind, ReadOnlySpan<byte> body, long timeMicros, Epoch epoch) =>
            reader.Read(lsn, kind, body, timeMicros, epoch, Keep) && Entry is null;

        private bool Keep(LogEntry entry)
        {
            Entry = entry;
            return false;
        }
    }
}
