using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// The channels between a primary and its peers, whichever connection carries them: it opens the exchange of a new link, takes what peers
/// acknowledge, and has it logged (step 11 of a call). It owns what is acknowledged and not logged, and the links whose own
/// acknowledgement waits for company. Any thread; <see cref="Tick"/> is one thread's.
/// </summary>
/// <param name="own">The epoch that this primary holds: impulses are counted in it.</param>
/// <param name="impulsesLogged">Hears up to which ticket the running app session's impulses to an outbox are logged.</param>
internal sealed class PeerChannels(
    CoordinatorInputs inputs, Epoch own, LogAppender log, DedupTable dedup, OutboxSet outboxes, Action<Outbox, ulong> impulsesLogged)
{
    /// <summary>
    /// An acknowledgement of few calls, for which nobody waits, is sent this often (protocol P6.8): each costs a send here and a wake-up
    /// there.
    /// </summary>
    private static readonly TimeSpan s_lateAcksEvery = TimeSpan.FromMilliseconds(100);

    private readonly TrimBatcher _trims = new();
    private long _lateAcksSent;

    /// <summary>
    /// The links that owe an acknowledgement of few calls that nobody waits for: it goes with whatever is said next, or a moment later.
    /// With many peers in a page that is one message to each now and then instead of one to each a page.
    /// </summary>
    public WaitingLinks LateAcks { get; } = new();

    /// <summary>Opens the exchange over a new connection, behind what the peer's hello says that it has.</summary>
    public LinkExchange Open(InboundChannel origin, Hello theirs, uint seed)
    {
        Outbox outbox = outboxes.GetOrAdd(theirs.Instance);
        var cursor = new SendCursor(outbox, seed, theirs.MessageBytesMax);
        cursor.Resume(theirs.Durable, theirs.ImpulseEpoch == own ? theirs.Impulses : 0);
        return new LinkExchange(this, origin, outbox, cursor, new InboundRuns(log, dedup, origin, inputs.Options.MessageBytesMax));
    }

    public InputPosition DurableOf(InboundChannel origin) => dedup.DurableOf(origin);

    /// <summary>Takes what a peer acknowledges: its calls wait for a Trim record, and the app hears of its impulses.</summary>
    /// <exception cref="ProtocolViolation">P6.8: it acknowledges more than there is.</exception>
    public void Take(in Ack ack, InboundChannel origin, Outbox outbox, SendCursor cursor)
    {
        if (ack.Durable > outbox.Known.Number)
            throw new ProtocolViolation("P6.8", $"{ack.Durable} calls acknowledged of {outbox.Known.Number}");
        long bytes = cursor.Acknowledged(ack.Durable);
        if (ack.Durable > outbox.Trimmed.Number)
        {
            outbox.AckedAt = inputs.Time.GetTimestamp(); // before the Trim that follows can be applied
            outbox.Acknowledge(ack.Durable);
            _trims.Acknowledged(origin.Id, ack.Durable, bytes, inputs.Time.GetElapsedTime(0));
        }
        if (ack.ImpulseEpoch == own) impulsesLogged(outbox, outbox.ImpulsesDurable(ack.Impulses));
    }

    /// <summary>Sends the acknowledgements that have waited long enough, and logs the trims that are due; true: some were.</summary>
    /// <param name="now">Monotonic.</param>
    public bool Tick(TimeSpan now)
    {
        if (inputs.Time.GetElapsedTime(_lateAcksSent) >= s_lateAcksEvery)
        {
            LateAcks.Release();
            _lateAcksSent = inputs.Time.GetTimestamp();
        }
        bool hasLogged = false;
        while (_trims.Due(now) is { } trim)
        {
            if (!log.TryAppend<TrimRecord>(trim, out _)) { _trims.GiveBack(trim, now); break; }
            hasLogged = true;
        }
        return hasLogged;
    }
}
