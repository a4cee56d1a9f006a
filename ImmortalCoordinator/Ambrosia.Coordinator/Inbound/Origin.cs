using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// One sender of inputs as the end of the log sees it. Invariant: durable ≤ appended, for calls and impulses; numbers have no gaps (I1).
/// Guarded by the ledger.
/// </summary>
internal sealed class Origin(uint id, InstanceId instance)
{
    /// <summary>In flight: appended, not yet durable.</summary>
    private readonly Queue<(Lsn End, InputPosition Position)> inFlight = new();

    public uint Id { get; } = id;

    public InstanceId Instance { get; } = instance;

    public Guid Uuid { get; set; }

    /// <summary>Highest epoch seen of it; lower ones are refused.</summary>
    public Epoch Epoch { get; set; }

    /// <summary>The epoch that a Peer record in the log states, and where that record ends; at most <see cref="Epoch"/>.</summary>
    public (Epoch Epoch, Lsn End) Logged { get; set; }

    public InputPosition Appended { get; private set; }

    public InputPosition Durable { get; private set; }

    /// <summary>
    /// A Forget record of it is in the log: nothing more of it is taken, and nobody under its name until the app has come to that place.
    /// </summary>
    public bool IsLeaving { get; set; }

    /// <summary>In the ledger's list of those with something in flight.</summary>
    public bool IsTouched { get; set; }

    /// <summary>The connection that wants to know when Durable moves.</summary>
    public PeerLink? Link { get; set; }

    public void Restore(InputPosition position) => Appended = Durable = position;

    public void Append(Lsn end, InputPosition position)
    {
        if (position.Number < Appended.Number || (position.ImpulseEpoch == Appended.ImpulseEpoch && position.Impulses < Appended.Impulses))
            throw new InvalidOperationException($"input of {Instance} goes back from {Appended} to {position}");
        Appended = position;
        inFlight.Enqueue((end, position));
    }

    /// <summary>Durable follows the log; false when nothing is in flight any more.</summary>
    public bool Advance(Lsn durable)
    {
        while (inFlight.TryPeek(out var first) && first.End <= durable) Durable = inFlight.Dequeue().Position;
        return inFlight.Count > 0;
    }
}
