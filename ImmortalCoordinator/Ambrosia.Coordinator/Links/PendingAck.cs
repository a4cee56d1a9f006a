using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Links;

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
