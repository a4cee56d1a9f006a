using System.IO.Enumeration;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>forget-peer</c> (protocol P9.9): the primary gives a peer up for good, by a record in its log, and answers when
/// its app has come to that place. One connection's thread uses it; once the record is in the log, it takes effect whoever goes.
/// </summary>
internal sealed class ForgetPeerCommand : IAdminReply
{
    /// <summary>The most peers that one answer names; those beyond are counted.</summary>
    internal const int ListedMax = 4000;

    private const int PatternCharsMax = 256;

    private readonly InstanceId _peer;
    private readonly ForgetSteps _steps;
    private InboundChannel? _leaving;

    private ForgetPeerCommand(InstanceId peer, ForgetSteps steps) => (_peer, _steps) = (peer, steps);

    /// <param name="isPrimary">Only the primary writes the log.</param>
    public static IAdminReply Begin(JsonObject request, bool isPrimary, ForgetSteps steps)
    {
        string? peer = StrictJson.TextOf(request["peer"]), pattern = StrictJson.TextOf(request["pattern"]);
        if (pattern is { Length: > 0 and <= PatternCharsMax } && peer is null)
            return isPrimary ? new AdminAnswer(List(pattern, steps)) : NotPrimary();
        if (peer is null || pattern is not null || !Names.IsValid(peer))
            return AdminAnswer.Refuse(
                "the request names no peer. Give the name of an instance as \"peer\", or a pattern of names with * and ? as \"pattern\".");
        return isPrimary ? new ForgetPeerCommand(new InstanceId(peer), steps) : NotPrimary();
    }

    private static IAdminReply NotPrimary() =>
        AdminAnswer.Refuse("this replica is not primary: only the primary writes the log. 'status' shows which one is.");

    /// <summary>The peers that a pattern means: those that are not connected, whether they were met or only called.</summary>
    private static JsonObject List(string pattern, ForgetSteps steps)
    {
        var peers = new SortedDictionary<InstanceId, ulong>();
        foreach (InboundChannel met in steps.Dedup.Peers())
            if (met is { Link: null, IsLeaving: false, Logged.Epoch.Value: > 0 }) peers[met.Instance] = 0;
        foreach (Outbox outbox in steps.Outboxes.InOrder())
        {
            ulong kept = outbox.KeptCalls;
            if (peers.ContainsKey(outbox.Destination) || (kept > 0 && steps.IsUnmet(outbox.Destination))) peers[outbox.Destination] = kept;
        }
        KeyValuePair<InstanceId, ulong>[] matching =
            [.. peers.Where(peer => FileSystemName.MatchesSimpleExpression(pattern, peer.Key.Name, ignoreCase: false))];
        return new JsonObject
        {
            ["peers"] = new JsonArray([.. matching.Take(ListedMax).Select(static peer =>
                new JsonObject { ["peer"] = peer.Key.Name, ["calls"] = peer.Value })]),
            ["more"] = Math.Max(0, matching.Length - ListedMax),
        };
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (_leaving is null)
        {
            _leaving = _steps.Begin(_peer, out string? why);
            if (why is not null) return AdminAnswer.Error(why);
            _steps.Commit();
        }
        isLast = _leaving is not null && _steps.Dedup.WasForgotten(_peer, _leaving.Uuid);
        return isLast ? new JsonObject { ["forgotten"] = _leaving!.Uuid.ToString(), ["calls"] = _steps.Dropped(_peer) } : null;
    }
}
