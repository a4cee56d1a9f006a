using System.Collections.Concurrent;
using System.Text.Json.Nodes;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// When peers are let in, which of them are called, and which are given up. Closed until the app of a primary has executed all that was
/// durable, then open for good: before that nobody knows what has been said to whom. Any thread.
/// </summary>
internal sealed class Admission(LinkTable table, InputLedger ledger, OutboxSet outboxes, SelfChannel self, LogAppender log, IPumps pumps)
{
    /// <summary>How many calls each peer that was given up lost by it, for the answer to whoever asked.</summary>
    private readonly ConcurrentDictionary<InstanceId, ulong> forgotten = [];

    /// <summary>Links are open and impulses admitted.</summary>
    public bool IsOpen => table.IsAdmitting;

    /// <summary>The app is primary; the first time in this process, the world is let in.</summary>
    /// <param name="executed">What the app has executed says what was taken of each peer.</param>
    public void Open(DeliveredState executed)
    {
        ledger.Restore(executed);
        self.Open();
        table.Admit();
        foreach (Origin origin in ledger.Peers()) table.Want(origin.Instance);
        foreach (Outbox outbox in outboxes.InOrder())
            if (outbox.HasUnsent) table.Want(outbox.Destination);
    }

    /// <summary>An outbox has something to send.</summary>
    public void HasOutput(Outbox outbox)
    {
        if (table.OpenLinkTo(outbox.Destination) is { } link) link.Wake();
        else if (table.Want(outbox.Destination)) pumps.Dial();
    }

    /// <summary>The app stands where the log gives a peer up (log-format L5.14), for the first time in this process.</summary>
    public void Forgotten(Outbox outbox, ulong calls)
    {
        pumps.Say($"link {outbox.Destination}: forgotten, as an operator has said; {calls} calls that it is not known to have are dropped");
        if (!IsOpen) return; // the ledger and the links of one that is not primary yet begin with what the log says
        forgotten[outbox.Destination] = calls; // before whoever asked for it can see that it has happened
        ledger.Forget(outbox.Destination);
        table.Resume(outbox.Destination);
        pumps.Dial();
    }

    /// <summary>The operator's command to give a peer up (protocol P9.9).</summary>
    public IAdminReply ForgetPeer(JsonObject request) =>
        ForgetPeerCommand.Begin(request, IsOpen, ledger, AppendForget, peer => forgotten.GetValueOrDefault(peer));

    private bool AppendForget(ForgetRecord record)
    {
        bool appended = log.TryAppend(RecordKind.Forget, RecordKinds.Encode(record), out _);
        pumps.Commit(true);
        return appended;
    }
}
