using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// The links of one replica to its peers. A secondary has none, but knows already who is to be called; the parts that only a primary's
/// links need are made by <see cref="BecomePrimary"/>. It owns the table of connections, the admission of peers, and the rounds in which
/// links hear of durable inputs. Any thread, but for <see cref="AdvanceDurable"/> and <see cref="WakeOwed"/>, which belong to
/// the commit under way, and <see cref="Tick"/>.
/// </summary>
internal sealed class PeerLinks
{
    private readonly CoordinatorInputs _inputs;
    private readonly LogAppender _log;
    private readonly DedupTable _dedup;
    private readonly OutboxSet _outboxes;
    private readonly SelfChannel _self;
    private readonly Action<Outbox, ulong> _impulsesLogged;

    /// <summary>The links whose peers' inputs became durable by the commit under way.</summary>
    private readonly List<IInboundLink> _owed = [];

    /// <summary>It is null on a secondary.</summary>
    private PrimaryLinks? _primary;

    /// <param name="impulsesLogged">Hears up to which ticket the running app session's impulses to an outbox are logged.</param>
    public PeerLinks(
        CoordinatorInputs inputs, LogAppender log, DedupTable dedup, OutboxSet outboxes, SelfChannel self,
        Action<Outbox, ulong> impulsesLogged)
    {
        _inputs = inputs;
        _log = log;
        _dedup = dedup;
        _outboxes = outboxes;
        _self = self;
        _impulsesLogged = impulsesLogged;
        Events = new PeerEventLog(inputs.Logger, inputs.Time);
        Absent = new AbsentPeerLog(inputs.Logger, inputs.Time);
        Table = new LinkTable(
            new InstanceId(inputs.Identity.Name, inputs.Identity.Shard), () => new Backoff(inputs.Random), inputs.Pumps.Dial);
        Admission = new PeerAdmission(Table, dedup, outboxes, self, log, inputs);
    }

    /// <summary>It holds what is made once this replica holds an epoch.</summary>
    private sealed record PrimaryLinks(PeerHandshake Handshake, PeerChannels Channels, LinkFlow Flow);

    private PrimaryLinks Primary => _primary ?? throw new InvalidOperationException("a secondary emits nothing (I10)");

    /// <summary>Writes what happens on connections for the operator.</summary>
    public PeerEventLog Events { get; }

    /// <summary>Writes which peers cannot be called.</summary>
    public AbsentPeerLog Absent { get; }

    public LinkTable Table { get; }

    public PeerAdmission Admission { get; }

    /// <summary>
    /// Returns the peers to call now: known ones and those for whom there is output. What came of each is told by
    /// <see cref="LinkTable.Dialled"/>.
    /// </summary>
    public List<InstanceId> PeersToDial() => Table.PeersToDial(_inputs.Time.GetElapsedTime(0));

    /// <summary>True once links are open and impulses admitted.</summary>
    public bool IsOpen => Admission.IsOpen;

    /// <summary>This replica holds an epoch. One thread, once, before the first commit in that epoch.</summary>
    /// <param name="mayEmit">False while the primary is not sure that it still is one.</param>
    public void BecomePrimary(OwnClaim own, Func<bool> mayEmit)
    {
        _dedup.Self.Epoch = own.Epoch;
        _primary = new PrimaryLinks(
            new PeerHandshake(_inputs, own, _log, _dedup, _outboxes, Table),
            new PeerChannels(_inputs, own.Epoch, _log, _dedup, _outboxes, _impulsesLogged),
            new LinkFlow(_log, _inputs.Pumps, mayEmit));
    }

    /// <summary>Makes the link of a new connection to a peer; null while none are taken.</summary>
    /// <param name="expected">The peer that was dialled; null for a connection that came in.</param>
    public PeerLink? New(InstanceId? expected, LinkTransport transport)
    {
        if (!IsOpen) return null;
        (PeerHandshake handshake, PeerChannels channels, LinkFlow flow) = Primary;
        var opening = new LinkOpening(handshake, transport, expected, expected is { } peer ? Table.NextNonce(peer) : 0);
        var report = new LinkReport(Table, Events, _inputs.Time, opening, transport.Remote);
        return new PeerLink(transport, opening, report, Table, channels, flow);
    }

    /// <summary>The log is durable up to here: the app hears of its impulses to itself. <see cref="WakeOwed"/> follows.</summary>
    public void AdvanceDurable(Lsn durable)
    {
        _owed.Clear();
        _dedup.AdvanceDurable(durable, _owed, out bool selfMoved);
        LockChecks.BeforeCallOut();
        if (selfMoved) _impulsesLogged(_outboxes.Self, _self.TakeDurable());
    }

    /// <summary>Wakes the links that have an acknowledgement or a hello to send since the log was made durable.</summary>
    public void WakeOwed()
    {
        foreach (IInboundLink link in _owed) link.DurableAdvanced();
        Primary.Handshake.Awaiting.Wake();
    }

    /// <summary>Wakes all links, which were silent while the primary was not sure that it still is one.</summary>
    public void WakeAll()
    {
        foreach (PeerLink link in Table.All()) link.Wake();
    }

    /// <summary>Does what is due by time, of a primary; true: records were logged.</summary>
    /// <param name="now">Monotonic.</param>
    public bool Tick(TimeSpan now) => Primary.Channels.Tick(now);
}
