using System.Text.Json.Nodes;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>promote</c> (protocol P9.7): a secondary whose app gets on and is near enough to the log's end claims the next
/// epoch, whoever is primary, and answers when it is primary itself, or when the time for that is over. One connection's thread uses it;
/// when the caller goes before the claim, or the time is over before it, there is none.
/// </summary>
internal sealed class PromoteCommand : IAdminReply
{
    /// <summary>
    /// So much may be left to execute: under load there is always some, and the take-over executes it before it opens links.
    /// </summary>
    internal const ulong LagBytesMax = 4 << 20;

    /// <summary>A request that names no time has this one.</summary>
    internal static readonly TimeSpan Within = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan s_longest = TimeSpan.FromHours(24);

    private readonly PromotedReplica _replica;
    private readonly TimeProvider _time;
    private readonly TimeSpan _within;
    private readonly long _begun;
    private bool _hasClaimed;

    private PromoteCommand(PromotedReplica replica, TimeProvider time, TimeSpan within)
    {
        _replica = replica;
        _time = time;
        _within = within;
        _begun = time.GetTimestamp();
    }

    /// <param name="request">Its <c>withinMs</c> is the time that it has.</param>
    /// <param name="hasLog">This replica writes the log.</param>
    public static IAdminReply Begin(JsonObject request, bool hasLog, PromotedReplica replica, TimeProvider time)
    {
        if (hasLog) return AdminAnswer.Refuse("this replica is primary already. Ask a secondary: 'status' shows them.");
        if (replica.WaitsBecause() is { } waits)
            return AdminAnswer.Refuse($"this replica waits: {waits}. Start it with the primary's build, or stop the primary cleanly first.");
        TimeSpan within = Within;
        if (request["withinMs"] is { } asked)
        {
            if (asked is not JsonValue value || !value.TryGetValue(out long ms) || ms < 1 || ms > (long)s_longest.TotalMilliseconds)
                return AdminAnswer.Refuse("\"withinMs\" is no time from 1 ms to 24 h. Give a number of milliseconds.");
            within = TimeSpan.FromMilliseconds(ms);
        }
        return new PromoteCommand(replica, time, within);
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (_replica.Primary() is { } won) return new JsonObject { ["primary"] = true, ["epoch"] = won.Value };
        if (_time.GetElapsedTime(_begun) >= _within) return Late();
        if (!_hasClaimed && _replica.Obstacle() is null && _replica.Lag() <= LagBytesMax && _replica.Wait() is null)
        {
            _hasClaimed = true;
            _replica.Claim();
        }
        isLast = false;
        return null;
    }

    private JsonObject Late()
    {
        string why = _replica.Wait() is { } wait ? wait.Text : _replica.Obstacle() is { } obstacle ? obstacle
            : $"{_replica.Lag()} bytes of the log are left for its app to execute";
        JsonObject late = AdminAnswer.Error(_hasClaimed
            ? $"it has claimed the log, and {_within.TotalSeconds:F0} s were not enough to open it: {why}. It becomes primary when that is over; 'ambrosia status' shows it"
            : $"nothing was claimed within {_within.TotalSeconds:F0} s: {why}. Try again when its app gets on and at most {LagBytesMax} bytes are left, or give it more time with --within");
        late["late"] = true;
        late["hasClaimed"] = _hasClaimed;
        return late;
    }
}

/// <summary>It is what <c>promote</c> asks and does.</summary>
/// <param name="Lag">The log bytes left to execute.</param>
/// <param name="Primary">The epoch in which this replica is primary; null: it is not.</param>
/// <param name="Claim">Begins the claim and returns at once.</param>
/// <param name="Wait">What its app is waited for beyond the limit; null: nothing.</param>
internal sealed record PromotedReplica(Func<ulong> Lag, Func<Epoch?> Primary, Action Claim, Func<AppWait?> Wait)
{
    /// <summary>Says why its app is given nothing (log-format L5.18); null: it is, or none has come.</summary>
    public Func<string?> WaitsBecause { get; init; } = static () => null;

    /// <summary>Says why this replica may not claim the log now; null: it may.</summary>
    public Func<string?> Obstacle { get; init; } = static () => null;
}
