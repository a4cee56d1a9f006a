using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Places;
using Ambrosia.Inspection.Replays;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;

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

    /// <summary>Where the record is known that makes the difference, so many bytes from there on are looked at first.</summary>
    private const ulong NearBytes = 8 * 1024;

    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(100);

    /// <summary>The primary states within this many looks that the page of a message is durable.</summary>
    private const int LooksMax = 20;

    private readonly string _log = Path.TrimEndingDirectorySeparator(Path.GetFullPath(logDirectory));

    /// <inheritdoc cref="IncidentExplainer"/>
    public ExplainedIncident? Explain(Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
        ArgumentNullException.ThrowIfNull(incident);
        try
        {
            return Searched(incident, directoryOf, giveUp) ?? Unsearched(incident, giveUp);
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
            return incident.ExitCode is not null ? Death(incident, giveUp)
                : incident.IsOfState ? StateDifference(incident, giveUp) : Difference(incident, directoryOf, giveUp);
        }
        catch (Exception e) when (IsExpected(e))
        {
            return null;
        }
    }

    private ExplainedIncident? Death(Incident incident, CancellationToken giveUp) =>
        new DeathSearch(_log, app, files).Find(PlaceOf(incident), giveUp) is { } place ? Dies(place, isExact: true, giveUp) : null;

    /// <summary>The stretch behind which the app was found to differ is replayed, and compared as any replay is.</summary>
    private ExplainedIncident? Difference(Incident incident, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
        if (incident is not { From: { } from, To: { } to } || to <= from) return null;
        ulong near = Math.Min(incident.Place + NearBytes, to);
        return (incident.Place > from && incident.Place < near ? Difference(incident.Place, near, directoryOf, giveUp) : null)
            ?? Difference(from, to, directoryOf, giveUp);
    }

    private ExplainedIncident? Difference(ulong from, ulong to, Func<InstanceId, string?> directoryOf, CancellationToken giveUp)
    {
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

    /// <summary>
    /// The stretch is executed once more, and held against the first checkpoint behind it that the primary has written, or is writing.
    /// </summary>
    private ExplainedIncident? StateDifference(Incident incident, CancellationToken giveUp)
    {
        if (incident is not { From: { } from, To: { } to }) return null;
        var states = new StateComparison(NamedLog.Open(_log, files));
        ulong? behind = null;
        while ((behind = states.Checkpoints().Select(static each => (ulong?)each.Lsn.Value).LastOrDefault(place => place >= to)) is null)
            if (giveUp.WaitHandle.WaitOne(s_lookEvery)) return null;
        var options = new ReplayOptions
        {
            LogDirectory = _log, App = app, IsQuiet = true, From = from == 0 ? "start" : $"{from}", Until = $"{behind}",
        };
        using var replay = new ReplaySession(options, files, TimeProvider.System, static _ => { });
        return replay.Run(static _ => { }, giveUp).Differences is [{ State: { Count: > 0 } lines }, ..] ? OfState(incident, lines) : null;
    }

    /// <summary>
    /// Says which values differ. Two executions of the build side by side show which message it is, if the build is not the same twice.
    /// </summary>
    /// <param name="lines">What differs, by path; none: it was not found.</param>
    private ExplainedIncident OfState(Incident incident, IReadOnlyList<string> lines)
    {
        string build = ShellWords.Join(app.Count > 0 ? app : ["APP"]);
        string typed = ShellWords.Join("ambrosia", "replay", _log, "--app", build, "--old", build, "--until", $"{incident.To}");
        string what = lines.Count == 0 ? "" : $": {string.Join("; ", lines)}";
        return new ExplainedIncident(new MessagePlace(new Lsn(incident.From ?? 0), 0), IsExact: false,
            $"DIFFERENT in the state alone, between {incident.From} and {incident.To}{what}; which message makes it: {typed}", typed);
    }

    private ExplainedIncident Unsearched(Incident incident, CancellationToken giveUp)
    {
        if (incident.IsOfState) return OfState(incident, []);
        MessagePlace place = PlaceOf(incident);
        if (incident.ExitCode is { } code) return Dies(place, isExact: code == EndedByBinding && incident.Index is not null, giveUp);
        PlaceFinder places = Places();
        FoundPlace next = places.AtOrBehind(place); // where all agreed, nothing need begin
        bool isGone = next.Place.CompareTo(place) > 0 && place.Record < places.Find("start").Place.Record;
        string gone = isGone ? $"{place}, which cannot be executed any more; what is left begins with " : "";
        return New(next.Place, isExact: false, $"DIFFERENT at or behind {gone}{next}");
    }

    /// <summary>An app can die at a message whose page the log does not state as durable yet, so that no reader sees it.</summary>
    private ExplainedIncident Dies(MessagePlace place, bool isExact, CancellationToken giveUp)
    {
        FoundPlace next = Places().AtOrBehind(place);
        for (int looks = 1; next.IsEnd && looks < LooksMax && !giveUp.WaitHandle.WaitOne(s_lookEvery); looks++)
            next = Places().AtOrBehind(place);
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
