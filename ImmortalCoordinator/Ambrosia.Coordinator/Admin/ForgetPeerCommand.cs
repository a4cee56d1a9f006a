using System.Text.Json;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The command <c>forget-peer</c> (protocol P9.9): the primary gives a peer up for good, by a record in its log, and answers when its app
/// has come to that place. Of one connection's thread: once the record is in the log it takes effect whoever goes.
/// </summary>
internal sealed class ForgetPeerCommand : IAdminReply
{
    private readonly InstanceId peer;
    private readonly InputLedger ledger;
    private readonly Func<ForgetRecord, bool> tryAppend;
    private readonly Func<InstanceId, ulong> dropped;
    private Origin? leaving;

    private ForgetPeerCommand(InstanceId peer, InputLedger ledger, Func<ForgetRecord, bool> tryAppend, Func<InstanceId, ulong> dropped)
    {
        this.peer = peer;
        this.ledger = ledger;
        this.tryAppend = tryAppend;
        this.dropped = dropped;
    }

    /// <param name="isPrimary">Only the primary writes the log.</param>
    /// <param name="tryAppend">Appends the record; false: no room now.</param>
    /// <param name="dropped">How many calls to a peer that was forgotten are gone.</param>
    public static IAdminReply Begin(
        JsonObject request, bool isPrimary, InputLedger ledger, Func<ForgetRecord, bool> tryAppend, Func<InstanceId, ulong> dropped)
    {
        if (request["peer"] is not JsonValue value || value.GetValueKind() != JsonValueKind.String
            || !Names.IsValid(value.GetValue<string>()))
            return AdminAnswer.Refuse("the request names no peer. Give the name of an instance as \"peer\".");
        return isPrimary
            ? new ForgetPeerCommand(new InstanceId(value.GetValue<string>()), ledger, tryAppend, dropped)
            : AdminAnswer.Refuse("this replica is not primary: only the primary writes the log. 'status' shows which one is.");
    }

    public JsonObject? Next(out bool isLast)
    {
        isLast = true;
        if (leaving is null && (leaving = ledger.BeginForget(peer, tryAppend, out string? why)) is null && why is not null)
            return AdminAnswer.Error(why);
        isLast = leaving is not null && ledger.WasForgotten(peer, leaving.Uuid);
        return isLast ? new JsonObject { ["forgotten"] = leaving!.Uuid.ToString(), ["calls"] = dropped(peer) } : null;
    }
}
