using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The log as this replica stands to it: followed while another is primary, written from the moment that this one is. Parts ask here and
/// need not know the role. Invariant: Durable never decreases, through the change too, since a take-over keeps all that was stated (F2).
/// Any thread; the role changes once, by <see cref="Lead"/>.
/// </summary>
internal sealed class ReplicaLog
{
    private readonly LogFollower? follower;
    private LogWriter? writer;

    private ReplicaLog(LogFollower? follower, LogWriter? writer)
    {
        this.follower = follower;
        this.writer = writer;
    }

    public static ReplicaLog Of(LogWriter writer) => new(null, writer);

    public static ReplicaLog Of(LogFollower follower) => new(follower, null);

    /// <summary>True once this replica is the one that writes.</summary>
    public bool IsWritten => Volatile.Read(ref writer) is not null;

    /// <exception cref="InvalidOperationException">I10: a secondary never logs.</exception>
    public LogWriter Writer => Volatile.Read(ref writer) ?? throw new InvalidOperationException("a secondary logs nothing (I10)");

    /// <summary>What may be executed: durable by our own commits, or stated as durable by the primary (F3).</summary>
    public Lsn Durable => Volatile.Read(ref writer)?.Durable ?? follower!.Stated;

    /// <summary>Highest position that the log on disk states as durable.</summary>
    public Lsn Stated => Volatile.Read(ref writer)?.Stated ?? follower!.Stated;

    public uint AppVersion => Volatile.Read(ref writer)?.AppVersion ?? follower!.AppVersion;

    /// <summary>A durable page that is still in memory; never on a secondary.</summary>
    public bool TryPin(Lsn page, out PinnedPage pinned)
    {
        if (Volatile.Read(ref writer) is { } own) return own.TryPin(page, out pinned);
        pinned = default;
        return false;
    }

    /// <summary>This replica has taken the log over.</summary>
    public void Lead(LogWriter taken)
    {
        if (taken.Durable < follower!.Stated)
            throw new InvalidOperationException(
                $"the log was taken over up to {taken.Durable}, and {follower.Stated} was stated as durable (I12)");
        if (Interlocked.CompareExchange(ref writer, taken, null) is not null)
            throw new InvalidOperationException("this replica is primary already");
    }
}
