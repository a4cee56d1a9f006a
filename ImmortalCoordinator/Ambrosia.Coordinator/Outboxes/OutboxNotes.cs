using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// The impulses of one outbox in this epoch: it numbers them for the receiver, and translates numbers to the tickets of the running app
/// session. Invariant: durable ≤ numbered. It is a field of
/// <see cref="Outbox"/>, whose lock guards it.
/// </summary>
internal struct ImpulseNumbers
{
    /// <summary>
    /// The difference between a number and its session's ticket; it is negative once a receiver was forgotten in its course.
    /// </summary>
    private long _ticketBase;

    /// <summary>The number of the last impulse there is.</summary>
    public ulong Numbered { get; private set; }

    /// <summary>The number up to which impulses are durable at the receiver.</summary>
    public ulong Durable { get; private set; }

    /// <summary>The session's ticket of the last impulse that is durable; 0: none of this session is.</summary>
    public readonly ulong TicketOfDurable => (long)Durable > _ticketBase ? Durable - (ulong)_ticketBase : 0;

    /// <summary>A new app session begins, with ticket 1.</summary>
    public void BeginSession() => _ticketBase = (long)Numbered;

    /// <summary>The receiver was forgotten: the next one's impulses begin with number 1, and the session's tickets go on.</summary>
    public void Cut()
    {
        _ticketBase -= (long)Numbered;
        Numbered = Durable = 0;
    }

    /// <summary>Numbers the impulses that follow; returns the first one's number.</summary>
    /// <exception cref="ProtocolViolation">P5.9: the ticket is not the next.</exception>
    public ulong Take(ulong ticket, uint count)
    {
        if ((ulong)_ticketBase + ticket != Numbered + 1)
            throw new ProtocolViolation("P5.9", $"impulse with ticket {ticket} where {Numbered - (ulong)_ticketBase + 1} is next");
        ulong first = Numbered + 1;
        Numbered += count;
        return first;
    }

    /// <summary>Takes over up to which number impulses are durable at the receiver; false: that was known.</summary>
    /// <exception cref="ProtocolViolation">P6.8: more than were sent.</exception>
    public bool TryAcknowledge(ulong number)
    {
        if (number > Numbered) throw new ProtocolViolation("P6.8", $"{number} impulses acknowledged of {Numbered}");
        if (number <= Durable) return false;
        Durable = number;
        return true;
    }
}

/// <summary>
/// It says which calls one outbox's receiver has durable. Invariant: stated ≤ acknowledged, but for what was restored. It is a field of
/// <see cref="Outbox"/>, whose lock guards it, but for the timestamp.
/// </summary>
internal struct ReceiverProgress()
{
    /// <summary>The calls that the receiver has acknowledged.</summary>
    public ulong Acknowledged = 0;

    /// <summary>The calls that the log has stated as durable there, where the app is.</summary>
    public ulong Stated = 0;

    /// <summary>The timestamp of the last acknowledgement that said something new.</summary>
    public long AckedAt = long.MinValue;
}

/// <summary>
/// It holds what others note on an outbox, so that they need no tables of their own. It is a field of <see cref="Outbox"/>, which says
/// whose each note is.
/// </summary>
internal struct OutboxNotes()
{
    public ulong DigestedCount = 0;
    public bool IsUndigested = false;
    public bool IsUnnoted = false;

    /// <summary>The place that a session had reached, and how many receivers were forgotten before it.</summary>
    public (ChannelPosition At, int Generation) Emitted = default;
    public long SessionIndex = -1;
    public int IsInRound = 0;
}
