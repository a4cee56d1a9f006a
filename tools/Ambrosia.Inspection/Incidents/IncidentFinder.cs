using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Replays;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Incidents;

/// <summary>
/// Says of a death or a divergence, in the words of <c>ambrosia replay</c>, which message it is and how a person stops just before it.
/// Where the app can be started, it looks for the message itself; otherwise it says up to where all was well. Any thread.
/// </summary>
/// <param name="app">Starts the app, with its arguments; empty: nobody can but its user.</param>
/// <param name="command">Returns what a user types to stop before a place.</param>
public sealed class IncidentFinder(string logDirectory, IReadOnlyList<string> app, IFileSystem files, Func<string, string> command)
{
    /// <summary>An app that ends with this code was ended by its binding, which has said at which message.</summary>
    private const int EndedByBinding = 1;

    private readonly string _log = Path.TrimEndingDirectorySeparator(Path.GetFullPath(logDirectory));

    /// <inheritdoc cref="IncidentExplainer"/>
    public ExplainedIncident? Explain(Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
        ArgumentNullException.ThrowIfNull(incident);
        try
        {
            return Searched(incident, directoryOf, giveUp) ?? Unsearched(incident);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null; // what the coordinator says itself must do
        }
    }

    private ExplainedIncident? Searched(Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
        if (app.Count == 0) return null;
        try
        {
            return incident.ExitCode is null ? Difference(incident, directoryOf, giveUp) : Death(incident, giveUp);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null;
        }
    }

    private ExplainedIncident? Death(Incident incident, CancellationToken giveUp) =>
        new DeathSearch(_log, app, files).Find(PlaceOf(incident), giveUp) is { } place ? Dies(place, isExact: true) : null;

    /// <summary>The stretch behind which the app was found to differ is replayed, and compared as any replay is.</summary>
    private ExplainedIncident? Difference(Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
        if (incident is not { From: { } from, To: { } to } || to <= from) return null;
        var options = new ReplayOptions
        {
            LogDirectory = _log, App = app, IsQuiet = true, From = from == 0 ? "start" : $"{from}",
            Until = to < Places().Find("end").Place.Record.Value ? $"{to}" : null, DirectoryOf = directoryOf,
        };
        using var replay = new ReplaySession(options, files, TimeProvider.System, static _ => { });
        if (replay.Run(static _ => { }, giveUp).Differences is not [var found, ..]) return null;
        string then = found.Then is null ? "" : $"; then {found.Then}", state = string.Concat(found.State.Select(static each => $"; state {each}"));
        return New(
            found.Place, found.IsExact, $"DIFFERENT {(found.IsExact ? "at" : "at or behind")} {found.Message}{then}; now {found.Now}{state}");
    }

    private ExplainedIncident Unsearched(Incident incident)
    {
        MessagePlace place = PlaceOf(incident);
        if (incident.ExitCode is { } code) return Dies(place, isExact: code == EndedByBinding && incident.Index is not null);
        FoundPlace next = Places().AtOrBehind(place); // where all agreed, nothing need begin
        return New(next.Place, isExact: false, $"DIFFERENT at or behind {next}");
    }

    private ExplainedIncident Dies(MessagePlace place, bool isExact)
    {
        FoundPlace next = Places().AtOrBehind(place);
        return New(next.Place, isExact && next.Place == place, $"the app dies {(isExact ? "at" : "at or behind")} {next}");
    }

    private ExplainedIncident New(MessagePlace place, bool isExact, string text)
    {
        string typed = command($"{place}");
        return new ExplainedIncident(place, isExact, $"{text}; stop just before it: {typed}", typed);
    }

    private PlaceFinder Places() => new(NamedLog.Open(_log, files), TimeProvider.System);

    private static MessagePlace PlaceOf(Incident incident) => new(new Lsn(incident.Place), incident.Index ?? 0);

    private static bool IsExpected(Exception e) => e is MisuseException or ViewEndedException or LogDamage or ProtocolViolation
        or IOException or UnauthorizedAccessException or OperationCanceledException;
}
