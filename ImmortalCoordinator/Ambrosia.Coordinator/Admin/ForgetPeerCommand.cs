using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Admin;

/// <summary>
/// Serves the command <c>forget-peer</c> (protocol P9.9): the primary gives a peer up for good, by a record in its log, and answers when
/// its app has come to that place. One connection's thread uses it; once the record is in the log, it takes effect whoever goes.
/// </summary>
internal sealed class ForgetPeerCommand : IAdminReply
{
    private readonly InstanceId _peer;
    private readonly DedupTable _dedup;
    private readonly Func<ForgetRecord, bool> _tryAppend;
    private readonly Func<InstanceId, ulong> _dropped;
    private readonly Action _commit;
    private InboundChannel? _leaving;

    private ForgetPeerCommand(
        InstanceId peer, DedupTable dedup, Func<ForgetRecord, bool> tryAppend, Func<InstanceId, ulong> dropped, Action commit)
    {
        _peer = peer;
        _dedup = dedup;
        _tryAppend = tryAppend;
        _dropped = dropped;
        _commit = commit;
    }

    /// <param name="isPrimary">Only the primary writes the log.</param>
    /// <param name="tryAppend">Appends the record; false: no room now.</param>
    /// <param name="dropped">How many calls to a peer that was forgotten are gone.</param>
    /// <param name="commit">Commits what was appended. It waits for writers, so it is called under no lock.</param>
    public static IAdminReply Begin(JsonObject request, bool isPrimary, DedupTable dedup, Func<ForgetRecord, bool> tryAppend,
        Func<InstanceId, ulong> dropped, Action commit)
    {
        if (request["peer"] is not JsonValue value || value.GetValueKind() != JsonValueKind.String
            || !Names.IsValid(value.GetValue<string>()))
            return AdminAnswer.Refuse("the request names no peer. Give the name of an instance as \"peer\".");
        return isPrimary
            ? new ForgetPeerCommand(new InstanceId(value.GetValue<string>()), dedup, tryAppend, dropped, commit)
            : AdminAnswer.Refuse("this replica is not primary: only the primary writes the log. 'status' shows which one is.");
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (_leaving is null)
        {
            _leaving = _dedup.BeginForget(_peer, _tryAppend, out string? why);
            if (why is not null) return AdminAnswer.Error(why);
            _commit();
        }
        isLast = _leaving is not null && _dedup.WasForgotten(_peer, _leaving.Uuid);
        return isLast ? new JsonObject { ["forgotten"] = _leaving!.Uuid.ToString(), ["calls"] = _dropped(_peer) } : null;
    }
}
