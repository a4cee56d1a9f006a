using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Inbox;

/// <summary>
/// One sender of inputs as the end of the log sees it. Invariant: durable ≤ appended, for calls and impulses; numbers have no gaps (I1).
/// The lock of <see cref="DedupTable"/> guards it.
/// </summary>
internal sealed class InboundChannel(uint id, InstanceId instance)
{
    /// <summary>What is in flight stands here: appended, not yet durable.</summary>
    private readonly Queue<(Lsn End, InputPosition Position)> _inFlight = new();

    public uint Id { get; } = id;

    public InstanceId Instance { get; } = instance;

    public Guid Uuid { get; set; }

    /// <summary>The highest epoch seen of it; lower ones are refused.</summary>
    public Epoch Epoch { get; set; }

    /// <summary>
    /// The number by which the claim of that epoch was taken (protocol P6.12; 0: it said none), and the last claim that was refused because
    /// another one of its epoch had been taken: what follows from it is refused, too. They are in no log: a process that has just begun
    /// knows none, and takes the first that comes.
    /// </summary>
    public (ulong Taken, (Epoch Epoch, ulong Number) Refused) Claims { get; set; }

    /// <summary>The epoch that a Peer record in the log states, and where that record ends; at most <see cref="Epoch"/>.</summary>
    public (Epoch Epoch, Lsn End) Logged { get; set; }

    public InputPosition Appended { get; private set; }

    public InputPosition Durable { get; private set; }

    /// <summary>
    /// A Forget record of it is in the log: nothing more of it is taken, and nobody under its name until the app has come to that place.
    /// </summary>
    public bool IsLeaving { get; set; }

    /// <summary>True while it is in the table's list of those with something in flight.</summary>
    public bool IsTouched { get; set; }

    /// <summary>The connection that wants to know when Durable moves.</summary>
    public IInboundLink? Link { get; set; }

    public void Restore(InputPosition position) => Appended = Durable = position;

    public void Append(Lsn end, InputPosition position)
    {
        if (position.Number < Appended.Number || (position.ImpulseEpoch == Appended.ImpulseEpoch && position.Impulses < Appended.Impulses))
            throw new InvalidOperationException($"input of {Instance} goes back from {Appended} to {position}");
        Appended = position;
        _inFlight.Enqueue((end, position));
    }

    /// <summary>Durable follows the log; false when nothing is in flight any more.</summary>
    public bool Advance(Lsn durable)
    {
        while (_inFlight.TryPeek(out var first) && first.End <= durable) Durable = _inFlight.Dequeue().Position;
        return _inFlight.Count > 0;
    }
}

/// <summary>The connection over which a channel's inputs arrive; it is told when more of them have become durable.</summary>
internal interface IInboundLink
{
    /// <summary>Inputs of this channel, or the log, have become durable: the connection may owe an acknowledgement. Any thread.</summary>
    void DurableAdvanced();
}
