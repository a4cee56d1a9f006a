using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Upgrades;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>upgrade</c> (protocol P9.11): a primary starts another build beside its app, which takes its place once a
/// rehearsal has worked. It answers at each stage, and at last when the new app is primary, or why it is not. One connection's thread uses
/// it; who goes before the doors are shut has asked for nothing.
/// </summary>
internal sealed class UpgradeCommand : IAdminReply
{
    private static readonly TimeSpan s_longest = TimeSpan.FromHours(24);

    /// <summary>The upgrade is made, and the new app has so long to become primary before the answer says that it has not.</summary>
    private static readonly TimeSpan s_primaryWithin = TimeSpan.FromSeconds(30);

    private readonly UpgradedReplica _replica;
    private readonly uint _from;
    private InPlaceStatus? _told;

    /// <summary>The upgrade was seen to be made then; null: it was not.</summary>
    private long? _made;

    private UpgradeCommand(UpgradedReplica replica, uint from) => (_replica, _from) = (replica, from);

    /// <param name="request">Its <c>app</c> is the new program with its arguments; <c>withinMs</c> and <c>limitMs</c> are the times that
    /// rehearsing and the upgrade itself have.</param>
    public static IAdminReply Begin(JsonObject request, UpgradedReplica replica)
    {
        if (request["app"] is not JsonArray { Count: > 0 } given
            || given.Any(static each => StrictJson.TextOf(each) is not { Length: > 0 }))
            return Refuse("the request names no program. Give the new app's program and its arguments as the strings of \"app\".");
        var asked = new InPlaceRequest([.. given.Select(static each => StrictJson.TextOf(each)!)]);
        if (Time(request, "withinMs", asked.Within) is not { } within || Time(request, "limitMs", asked.Limit) is not { } limit)
            return Refuse("\"withinMs\" or \"limitMs\" is no time from 1 ms to 24 h. Give a number of milliseconds.");
        if (replica.Runs() is not { } from)
            return Refuse("this replica is not primary, or its app is not. Ask the one that 'ambrosia status' shows as primary.");
        return replica.Upgrade.Begin(asked with { Within = within, Limit = limit }) is { } wrong
            ? Refuse($"{wrong}.") : new UpgradeCommand(replica, from);
    }

    public JsonObject? Next(out bool isLast)
    {
        _replica.Upgrade.Ask();
        InPlaceStatus now = _replica.Upgrade.Status;
        isLast = !now.IsUnderWay;
        switch (now.Stage)
        {
            case InPlaceStage.Made:
                bool isPrimary = _replica.Runs() == now.To;
                isLast = isPrimary || _replica.Time.GetElapsedTime(_made ??= _replica.Time.GetTimestamp()) >= s_primaryWithin;
                return !isLast ? null : new JsonObject
                {
                    ["version"] = now.To, ["from"] = _from, ["isPrimary"] = isPrimary, ["commandLine"] = _replica.CommandLine(),
                };
            case InPlaceStage.Refused: return Ended($"{now.Why}.", isRefused: true);
            case InPlaceStage.GivenUp: return Ended($"it was given up, and version {_from} goes on: {now.Why}.", isRefused: false);
        }
        if (now == _told) return null;
        _told = now;
        var stage = new JsonObject { ["stage"] = now.Stage.ToString().ToLowerInvariant() };
        if (now.To > 0) stage["version"] = now.To;
        if (now.Why.Length > 0) stage["why"] = now.Why;
        return stage;
    }

    private static AdminAnswer Refuse(string why) => new(Ended(why, isRefused: true));

    private static JsonObject Ended(string why, bool isRefused)
    {
        JsonObject ended = AdminAnswer.Error(why);
        ended["isRefused"] = isRefused;
        return ended;
    }

    private static TimeSpan? Time(JsonObject request, string name, TimeSpan otherwise)
    {
        if (request[name] is not { } given) return otherwise;
        return given is JsonValue value && value.TryGetValue(out long ms) && ms >= 1 && ms <= (long)s_longest.TotalMilliseconds
            ? TimeSpan.FromMilliseconds(ms) : null;
    }
}

/// <summary>It is what <c>upgrade</c> asks and does.</summary>
/// <param name="Runs">The version of the app that is primary here; null: none is.</param>
/// <param name="CommandLine">What a start is to be given behind the upgrade.</param>
internal sealed record UpgradedReplica(InPlaceUpgrade Upgrade, Func<uint?> Runs, Func<string> CommandLine, TimeProvider Time);
