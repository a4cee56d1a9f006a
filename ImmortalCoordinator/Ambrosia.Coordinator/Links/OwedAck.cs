using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Which acknowledgement one connection owes its peer, and whether it may wait for company: somebody may wait for an impulse, for calls
/// only memory does. Owns what was acknowledged last. The connection's lock guards it, but for <see cref="Took"/>,
/// which is the in thread's.
/// </summary>
internal sealed class OwedAck
{
    /// <summary>Bytes of durable runs that are acknowledged at once; fewer wait for company.</summary>
    private const int AckBytes = 256 * 1024;

    private InputPosition acked;

    /// <summary>Bytes of runs taken; and how many those were when an acknowledgement was last written.</summary>
    private long takenBytes, ackedBytes;

    /// <summary>There may be something to say.</summary>
    public bool IsOwed { get; set; }

    /// <summary>Something was acknowledged on this connection.</summary>
    public bool HasSpoken => acked != default;

    /// <summary>So little has come since the last acknowledgement that the next may wait, unless it tells of impulses.</summary>
    public bool IsSmall => Volatile.Read(ref takenBytes) - ackedBytes < AckBytes;

    /// <summary>A run of so many bytes was taken.</summary>
    public void Took(int bytes) => Volatile.Write(ref takenBytes, takenBytes + bytes);

    public bool TellsOfImpulses(InputPosition durable) => durable.Impulses != acked.Impulses || durable.ImpulseEpoch != acked.ImpulseEpoch;

    /// <summary>Pays what is owed; false: it was said before.</summary>
    public bool TryPay(InputPosition durable, out Ack ack)
    {
        IsOwed = false;
        ack = new Ack(durable.Number, durable.ImpulseEpoch, durable.Impulses);
        if (durable == acked) return false;
        acked = durable;
        ackedBytes = Volatile.Read(ref takenBytes);
        return true;
    }
}
