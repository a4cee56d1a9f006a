using Ambrosia.Impulses;
using Ambrosia.Outbound;

namespace Ambrosia.Session;

/// <summary>
/// Owns what a session sends: the scheduler's output and the impulses of other threads, and the order in which both are taken. The
/// scheduler's thread writes to <see cref="Buffer"/>, any thread adds impulses, and one thread at a time takes. Invariant: what is taken
/// is whole frames, and an impulse never leaves before the declaration of its destination.
/// </summary>
internal sealed class SessionOutput(int impulseBytesMax)
{
    /// <summary>
    /// True while the next output to take is from the impulses: they were swapped in before the scheduler's output was found empty.
    /// </summary>
    private bool _takingImpulses;

    internal OutboundBuffer Buffer { get; } = new();

    internal ImpulseOutbox Impulses { get; } = new(impulseBytesMax);

    /// <summary>
    /// The output calls it on a sender's thread when impulses fill their bound; it returns when some were taken. Null: a full outbox is an
    /// error there.
    /// </summary>
    internal Action? WaitForImpulseRoom { get; set; }

    /// <summary>The output calls it on a sender's thread when an impulse waits to be taken.</summary>
    internal Action? ImpulseAdded { get; set; }

    internal ImpulseIngress NewIngress() => new(Impulses, Buffer) { WaitForRoom = WaitForImpulseRoom, Added = ImpulseAdded };

    /// <summary>Gives whole frames from the front. They stay there until <see cref="Taken"/> says that they are gone.</summary>
    internal bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        if (_takingImpulses && Impulses.TryTake(out bytes)) return true;
        _takingImpulses = false;
        // Impulses are swapped out before the scheduler's output is looked at: the declaration of their destinations
        // is then in front of them.
        bool hasImpulses = Impulses.TrySwap();
        if (Buffer.TryTake(out bytes)) return true;
        if (!hasImpulses) return false;
        _takingImpulses = true;
        return Impulses.TryTake(out bytes);
    }

    /// <summary>Says that the first <paramref name="count"/> bytes of what <see cref="TryTake"/> gave are sent.</summary>
    internal void Taken(int count)
    {
        if (_takingImpulses) Impulses.Taken(count);
        else Buffer.Taken(count);
    }
}
