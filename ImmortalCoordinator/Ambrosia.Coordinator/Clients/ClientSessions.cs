using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using CRA.Streams;

namespace Ambrosia.Coordinator.Clients;

/// <summary>The replica as the sessions of callers outside see it: what each member says may change at any time. Any thread.</summary>
internal interface IClientReplica
{
    /// <summary>The epoch in force; new sessions are numbered in it.</summary>
    Epoch Epoch { get; }

    /// <summary>True when this replica takes requests; a secondary answers queries alone.</summary>
    bool IsPrimary { get; }

    /// <summary>The durable log bytes that the app has not executed.</summary>
    ulong Lag { get; }

    /// <summary>The end of the last record that the app was given: what it says rests on nothing behind.</summary>
    Lsn DeliveredTo { get; }
}

/// <summary>
/// The sessions of callers outside (protocol P10) with one replica. It makes them, and tells them of durable requests and of answers. It
/// owns the table of those that are open. Any thread.
/// </summary>
internal sealed class ClientSessions
{
    private readonly PendingQueries _queries;
    private readonly IClientReplica _replica;
    private readonly ClientAdmission _admission;
    private readonly LinkFlow _flow;
    private readonly SharedBytes _answers;

    /// <param name="mayAnswer">False while a primary is not sure that it still is one.</param>
    public ClientSessions(
        CoordinatorInputs inputs, LogAppender log, PendingQueries queries, PeerEventLog events, Func<bool> mayAnswer,
        IClientReplica replica)
    {
        (_queries, _replica, _answers) = (queries, replica, inputs.Memory.Answers);
        _admission = new ClientAdmission(inputs, log, events, Table, replica);
        _flow = new LinkFlow(log, inputs.Pumps, mayAnswer);
    }

    public ClientTable Table { get; } = new();

    /// <summary>Makes the session of a caller on a connection that came in.</summary>
    public ClientSession New(LinkTransport transport) => new(transport, _admission, _queries, _flow, _replica, _answers);

    /// <summary>The log has advanced: whoever waits for it has something to be told.</summary>
    public void DurableAdvanced() => Table.DurableAdvanced();

    /// <summary>The app has answered requests of one session.</summary>
    public void Answer(in RunView run) => Table.Answer(run, _replica.Epoch);
}
