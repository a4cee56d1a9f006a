using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// Decides which callers outside are let in, and how much of what they ask; the same for all sessions. It judges a hello, numbers the
/// session, and makes the welcome (protocol P10.1). It owns nothing. Any thread.
/// </summary>
internal sealed class ClientAdmission(
    CoordinatorInputs inputs, LogAppender log, PeerEventLog events, ClientTable table, IClientReplica replica)
{
    /// <summary>
    /// The log bytes that the app may be behind; beyond them nothing from outside is admitted, so that peers and the app itself have the
    /// rest.
    /// </summary>
    public const ulong LagBytesMax = 64 << 20;

    private InstanceId Self { get; } = new(inputs.Identity.Name, inputs.Identity.Shard);

    public uint MessageBytesMax => inputs.Options.MessageBytesMax;

    /// <summary>The longest payload of a frame once a hello is accepted (P2.3).</summary>
    public uint PayloadBytesMax => SizeLimits.PayloadBytesMax(MessageBytesMax);

    /// <summary>False while the app is too far behind for more requests.</summary>
    public bool HasRoom => replica.Lag <= LagBytesMax;

    /// <summary>True when such a caller is in the right place; else it is to find the primary in the catalog.</summary>
    public bool IsForUs(ClientHello hello) => hello.QueriesOnly || replica.IsPrimary;

    /// <summary>Judges a hello, and gives the session its number; returns why the caller is refused, or null.</summary>
    /// <param name="certifiedNames">Names that the connection's certificate is for; null: there are no certificates.</param>
    public string? Admit(ClientSession session, ClientHello hello, IReadOnlyList<string>? certifiedNames, out ulong number)
    {
        number = 0;
        string? wrong = FindWrong(hello, certifiedNames);
        return wrong is null && !table.TryAdd(session, out number)
            ? $"there are {ClientTable.SessionsMax} callers already; try again later" : wrong;
    }

    private string? FindWrong(ClientHello hello, IReadOnlyList<string>? certifiedNames)
    {
        if (certifiedNames is not null && !certifiedNames.Contains(hello.Client, StringComparer.Ordinal))
            return $"the caller calls itself {hello.Client}, which its certificate is not for (P10.1)";
        if (!hello.Supports(1)) return $"the caller speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, we speak 1 (P10.1)";
        if (hello.Instance != Self) return $"the caller wants to speak to {hello.Instance}, we are {Self} (P10.1)";
        Guid uuid = inputs.Identity.Uuid;
        if (hello.Uuid != Guid.Empty && hello.Uuid != uuid)
            return $"the caller knows {Self} as {hello.Uuid}, we are {uuid}: it was deleted and made again (P10.1)";
        return hello.MessageBytesMax < MessageBytesMax
            ? $"the caller takes answers of at most {hello.MessageBytesMax} bytes, ours may have {MessageBytesMax} (P10.1)" : null;
    }

    /// <summary>Makes the welcome of a session that was admitted.</summary>
    /// <param name="requests">What the session may ask for; null: it is for queries alone.</param>
    public ClientWelcome Welcome(ulong number, bool forQueries, out ClientRequests? requests)
    {
        ClientSessionId id = forQueries ? default : new ClientSessionId(replica.Epoch, number);
        requests = forQueries ? null : new ClientRequests(log, id);
        return new ClientWelcome(1, inputs.Identity.Uuid, inputs.Options.Replica, id, MessageBytesMax, ClientSession.RequestsMax);
    }

    /// <summary>The session has ended.</summary>
    public void Remove(ulong number) => table.Remove(number);

    /// <summary>
    /// Writes a line under the instance's own name, so that callers who are refused again and again do not fill the operator's log.
    /// </summary>
    /// <param name="client">How the caller calls itself; empty: it has not said.</param>
    public void Log(string client, string remote, PeerEvent happened, string why) =>
        events.Log(Self, client.Length > 0 ? $"caller {client} {remote}" : $"caller {remote}", happened, why);
}
