using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Exchanges runs over one open link, in and out, and the acknowledgements of both. It owns the entries that are being sent, and what the
/// peer is still to be told. The in thread takes runs and acknowledgements, the out thread takes what is to be sent, and the link's lock
/// guards the acknowledgement that is owed.
/// </summary>
internal sealed class LinkExchange(
    PeerChannels channels, InboundChannel origin, Outbox outbox, SendCursor cursor, InboundRuns inbound)
{
    /// <summary>
    /// It is owed from the beginning: what became durable since our hello was written was said to nobody, and comes again only to be
    /// dropped.
    /// </summary>
    private readonly PendingAck _owed = new() { IsOwed = true };

    /// <summary>The length of the next message, if it is longer than the peer takes and nothing more is sent; else 0 (P6.11).</summary>
    public uint TooLong => cursor.TooLong;

    /// <summary>True once something was acknowledged to the peer on this connection.</summary>
    public bool HasAcknowledged => _owed.HasSpoken;

    // ---- in ----

    /// <summary>Logs a run; false: the log has no room now, and the same run comes again.</summary>
    /// <param name="isAgain">There was no room for the same run before.</param>
    public bool TryTakeRun(ReadOnlySpan<byte> payload, bool isAgain)
    {
        if (!inbound.TryTake(payload, isAgain)) return false;
        _owed.Took(payload.Length);
        return true;
    }

    /// <summary>Takes what the peer acknowledges. The link's lock is not held.</summary>
    public void Take(in Ack ack) => channels.Take(ack, origin, outbox, cursor);

    // ---- out ----

    /// <summary>
    /// Notes that there may be something to acknowledge; true: it may wait for company. The link's lock is held.
    /// </summary>
    public bool OweAck()
    {
        _owed.IsOwed = true;
        return _owed.IsSmall && !_owed.TellsOfImpulses(channels.DurableOf(origin));
    }

    /// <summary>Writes the acknowledgement that is owed, if one is. The link's lock is held.</summary>
    public void PayAck(FrameQueue to)
    {
        if (!_owed.IsOwed || !_owed.TryPay(channels.DurableOf(origin), out Ack ack)) return;
        Crash.Hit("ack.beforeSend");
        to.Write(ack);
    }

    /// <summary>Takes the runs that are next; they are held until <see cref="Sent"/>.</summary>
    public bool TryTakeRuns(out ReadOnlyMemory<byte> bytes) => cursor.TryTake(out bytes);

    /// <summary>What <see cref="TryTakeRuns"/> gave has been sent.</summary>
    public void Sent() => cursor.Taken();

    /// <summary>Gives up what is held. Both threads of the connection have stopped.</summary>
    public void End() => cursor.End();
}

/// <summary>
/// Knows which acknowledgement one connection owes its peer, and whether it may wait for company: somebody may wait for an impulse, for
/// calls only memory does. It owns what was acknowledged last. The connection's lock guards it, but for <see cref="Took"/>,
/// which is the in thread's.
/// </summary>
internal sealed class PendingAck
{
    /// <summary>So many bytes of durable runs are acknowledged at once; fewer wait for company.</summary>
    private const int AckBytes = 256 * 1024;

    private InputPosition _acked;

    /// <summary>The bytes of runs taken, and how many those were when an acknowledgement was last written.</summary>
    private long _takenBytes, _ackedBytes;

    /// <summary>There may be something to say.</summary>
    public bool IsOwed { get; set; }

    /// <summary>Something was acknowledged on this connection.</summary>
    public bool HasSpoken => _acked != default;

    /// <summary>So little has come since the last acknowledgement that the next may wait, unless it tells of impulses.</summary>
    public bool IsSmall => Volatile.Read(ref _takenBytes) - _ackedBytes < AckBytes;

    /// <summary>A run of so many bytes was taken.</summary>
    public void Took(int bytes) => Volatile.Write(ref _takenBytes, _takenBytes + bytes);

    public bool TellsOfImpulses(InputPosition durable) => durable.Impulses != _acked.Impulses || durable.ImpulseEpoch != _acked.ImpulseEpoch;

    /// <summary>Pays what is owed; false: it was said before.</summary>
    public bool TryPay(InputPosition durable, out Ack ack)
    {
        IsOwed = false;
        ack = new Ack(durable.Number, durable.ImpulseEpoch, durable.Impulses);
        if (durable == _acked) return false;
        _acked = durable;
        _ackedBytes = Volatile.Read(ref _takenBytes);
        return true;
    }
}
