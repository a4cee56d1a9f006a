using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// Finds the place in a log that a user means. Its forms: <c>LSN</c> (the record there, or the next behind), <c>LSN:INDEX</c>, a time (ISO
/// 8601, or <c>15m</c> ago: all that was logged then or before is executed), <c>ckpt:NAME|N</c> (1 is the newest),
/// <c>call:[INSTANCE#]ID</c>, <c>key:TEXT</c>, <c>method:NAME[#N]</c>, <c>start</c>, <c>end</c>, <c>crash</c>, <c>divergence</c>.
/// It only reads, also while the log is written, and in bounded memory. Names come from the contract manifests in the log's directory.
/// What is not there, or stands below what can be executed, is refused with the two nearest places that are. One thread.
/// </summary>
public sealed class PlaceFinder
{
    private const string Forms =
        "give LSN, LSN:INDEX, a time (2026-11-21T08:00:00Z, or 15m ago), ckpt:N, call:[INSTANCE#]ID, key:TEXT, method:NAME[#N], start, end, crash or divergence";

    /// <summary>The kinds of records that an app does nothing with.</summary>
    private static readonly HashSet<string> s_ofCoordinators =
    [
        .. new[] { RecordKind.Trim, RecordKind.Digest, RecordKind.StateHash, RecordKind.CheckpointMark, RecordKind.Build, RecordKind.Peer }
            .Select(LogEntry.NameOf),
    ];

    private readonly LogLocation _log;
    private readonly TimeProvider _time;
    private readonly PlaceReader _places;
    private readonly ContentPlaces _contents;

    /// <param name="time">Tells what now is, before which a span of time lies.</param>
    public PlaceFinder(LogLocation log, TimeProvider time) : this(log, ContractManifests.Load([], log), time) { }

    internal PlaceFinder(LogLocation log, ContractManifests contracts, TimeProvider time)
    {
        _log = log;
        _time = time;
        _places = new PlaceReader(log, contracts);
        _contents = new ContentPlaces(_places, contracts);
    }

    /// <summary>Finds a place.</summary>
    /// <param name="position">The place as a user writes it.</param>
    /// <exception cref="MisuseException">It is not there; the nearest that are there are named.</exception>
    /// <exception cref="LogDamage">The log is damaged before the place is found.</exception>
    public FoundPlace Find(string position)
    {
        Lsn start = _places.Start(); // before the search: a live log may be truncated meanwhile
        if (MessagePlace.TryParse(position, out MessagePlace place))
        {
            if (place.Record < start) throw BelowTheStart($"'{position}'", start);
            return position.Contains(':', StringComparison.Ordinal) ? At(place) : AtOrBehind(place.Record);
        }
        FoundPlace found = FindByName(position);
        return found.Place.Record >= start ? found : throw BelowTheStart($"'{position}', which is {found.ToOffer()},", start);
    }

    /// <summary>Describes what stands at a place; null: nothing that is stated as durable does.</summary>
    /// <exception cref="LogDamage">The log is damaged before the place.</exception>
    public FoundPlace? MessageAt(MessagePlace place) =>
        _places.AtOrBehind(place) is { IsEnd: false } found && found.Place == place ? found : null;

    /// <summary>Describes the message or record at a place, or else the next behind it, or the end of the log.</summary>
    /// <exception cref="LogDamage">The log is damaged before that.</exception>
    public FoundPlace AtOrBehind(MessagePlace place) => _places.AtOrBehind(place);

    /// <summary>Describes the next message or record behind a place, or the end of the log.</summary>
    /// <exception cref="LogDamage">The log is damaged before that.</exception>
    public FoundPlace Next(MessagePlace place) => _places.AtOrBehind(new MessagePlace(place.Record, place.Index + 1));

    /// <summary>
    /// Describes the first message or record at a place or behind it that does something in the app, or the end of the log. Where an app
    /// has stopped, records may stand that are the coordinator's alone.
    /// </summary>
    /// <exception cref="LogDamage">The log is damaged before that.</exception>
    public FoundPlace NextExecuted(MessagePlace place)
    {
        FoundPlace found = AtOrBehind(place);
        while (found is { IsEnd: false, Entry: { } entry } && s_ofCoordinators.Contains(entry.Kind)) found = Next(found.Place);
        return found;
    }

    private FoundPlace FindByName(string position)
    {
        int colon = position.IndexOf(':', StringComparison.Ordinal);
        string rest = position[(colon + 1)..];
        return (colon < 0 ? position : position[..(colon + 1)]) switch
        {
            "start" => _places.Before(_places.Start()),
            "end" => _places.End(),
            "crash" => OfIncident(position, IncidentFiles.LastDeath(_log.Files, _log.Directory), "death", "no app of this log has died at work"),
            "divergence" => OfIncident(position, IncidentFiles.LastDivergence(_log.Files, _log.Directory), "divergence",
                "no replica of this log was found diverged"),
            "ckpt:" => OfCheckpoint(rest),
            "call:" => _contents.OfCall(rest),
            "key:" => _contents.OfKey(rest),
            "method:" => _contents.OfMethod(rest),
            _ when TimeArgument.Parse(position, _time.GetUtcNow()) is { } micros => OfTime(position, micros),
            _ => throw new MisuseException($"'{position}' is no place of a log", "", Forms),
        };
    }

    private FoundPlace AtOrBehind(Lsn lsn)
    {
        FoundPlace found = _places.AtOrBehind(new MessagePlace(lsn, 0));
        if (found.IsEnd && found.Place.Record < lsn) throw BehindTheEnd($"{lsn}", found, new MessagePlace(lsn, 0));
        return found.Place.Record == lsn ? found : found with { NextBehind = lsn };
    }

    private FoundPlace At(MessagePlace place)
    {
        FoundPlace found = _places.AtOrBehind(place);
        if (found.Place == place) return found;
        if (place.Index == 0 && IsCheckpoint(place.Record)) return _places.Before(place.Record);
        if (_places.LastBefore(place) is { } last && last.Record == place.Record)
            throw PlaceReader.Refusal($"there is no message {place}", $"the record has {last.Index + 1}, counted from 0",
                _places.Offer(place with { Index = 0 }), _places.Offer(last));
        if (found.IsEnd && place.Record >= found.Place.Record) throw BehindTheEnd($"{place}", found, place);
        throw PlaceReader.Refusal($"there is no message {place}", $"no record begins at {place.Record}", OffersAround(place, found));
    }

    private MisuseException BelowTheStart(string what, Lsn start) => PlaceReader.Refusal($"{what} is below what can be executed",
        $"the log was truncated, and the oldest state that is kept is that at {start}", _places.OfferBoth());

    private MisuseException BehindTheEnd(string position, FoundPlace end, MessagePlace place) => PlaceReader.Refusal(
        $"there is nothing at {position}", $"{end.Place.Record} is the end of what the log states as durable", OffersAround(place, end));

    private string[] OffersAround(MessagePlace place, FoundPlace behind) =>
        _places.LastBefore(place) is { } before && before.Record >= _places.Start() ? [_places.Offer(before), behind.ToOffer()]
            : [behind.ToOffer(), .. behind.IsEnd ? [] : new[] { Next(behind.Place).ToOffer() }];

    private bool IsCheckpoint(Lsn lsn) => CheckpointDirectory.List(_log.Files, _log.Directory).Any(name => name.Lsn == lsn);

    private FoundPlace OfTime(string position, long micros)
    {
        (TimeSearch search, LogEnd? end) = _places.Scan.Run(_places.Scan.Near(micros), names => new TimeSearch(names, micros));
        if (search.Found is { } found && (search.HasEarlier || _places.LastBefore(found) is not null)) return _places.Describe(found);
        FoundPlace last = end is null ? _places.End() : _places.EndAt(end);
        long now = (_time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        if (search.Found is null && micros <= Math.Max(now, last.TimeMicros ?? 0)) return last;
        FoundPlace first = _places.AtOrBehind(default);
        throw PlaceReader.Refusal($"'{position}' ({TextFormat.Time(micros)}) is outside of what this log tells",
            first.TimeMicros is { } from && last.TimeMicros is { } to ? $"it was logged from {TextFormat.Time(from)} to {TextFormat.Time(to)}"
                : "nothing was logged", _places.OfferBoth());
    }

    private FoundPlace OfCheckpoint(string asked)
    {
        CheckpointFileName[] names = [.. CheckpointDirectory.List(_log.Files, _log.Directory)];
        if (names.Length == 0)
            throw PlaceReader.Refusal($"there is no checkpoint '{asked}'", "this log has no checkpoint", _places.OfferBoth());
        if (CheckpointChoice.TryFind(names, asked) is { } name) return _places.Before(name.Lsn);
        throw PlaceReader.Refusal($"'{asked}' is no checkpoint of this log", "",
            CheckpointChoice.Nearest(names, asked).Take(2).Select(each => $"ckpt:{each}, {_places.Before(each.Lsn).ToOffer()}"));
    }

    private FoundPlace OfIncident(string position, Incident? incident, string file, string why)
    {
        if (incident is null)
            throw PlaceReader.Refusal($"there is no {position}", $"{why}, or the files {file}.* were removed", _places.OfferBoth());
        var place = new Lsn(incident.Place);
        return incident.Index is { } index ? At(new MessagePlace(place, index)) : AtOrBehind(place);
    }
}
