using Ambrosia.Log.Format;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Says how a log ended when it was read to its tail (log-format L8). A take-over and a <see cref="LogReader"/> throw the halt's damage
/// instead.
/// </summary>
/// <param name="End">The log ends here.</param>
/// <param name="DurableUpTo">Highest position that the log itself states as durable.</param>
public abstract record ReadVerdict(Lsn End, Lsn DurableUpTo)
{
    /// <summary>Nothing stands behind the last valid page.</summary>
    public sealed record CleanEnd(Lsn End, Lsn DurableUpTo) : ReadVerdict(End, DurableUpTo)
    {
        public override string ToString() => $"the log ends at {End}";
    }

    /// <summary>A torn tail was dropped: bytes that nothing states as durable, so that nobody was told that they are.</summary>
    /// <param name="Bytes">Bytes dropped, from <paramref name="At"/> to the last byte that is not 0.</param>
    /// <param name="Offset">Offset in <paramref name="File"/> of the first byte dropped.</param>
    public sealed record TornTail(Lsn At, long Bytes, string File, long Offset, string Reason, Lsn DurableUpTo)
        : ReadVerdict(At, DurableUpTo)
    {
        public override string ToString() =>
            $"torn tail: dropped {Bytes} bytes at Lsn {At} (byte {Offset} of {File}); {Reason}; durable up to {DurableUpTo}";
    }

    /// <summary>What the log promises is not there, or not what it was. Nothing behind <paramref name="At"/> counts.</summary>
    public sealed record Halt(Lsn At, LogDamage Damage, Lsn DurableUpTo) : ReadVerdict(At, DurableUpTo)
    {
        public override string ToString() => $"halt: {Damage.Message}; durable up to {DurableUpTo}";
    }

    /// <summary>
    /// The segment that came next was truncated while a live log was read, which is no damage. The caller opens the log again, from the
    /// oldest segment kept.
    /// </summary>
    public sealed record Truncated(Lsn At, Lsn DurableUpTo) : ReadVerdict(At, DurableUpTo)
    {
        public override string ToString() => $"the log from {At} on was truncated meanwhile";
    }
}
