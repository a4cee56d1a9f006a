using Ambrosia.Log.Commit;
using Ambrosia.Log.Pages;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.LogFeed;

/// <summary>
/// The log as this replica stands to it: followed while another is primary, written from the moment that this one is. Parts ask here and
/// need not know the role. Invariant: Durable never decreases, through the change too, since a take-over keeps all that was stated (F2).
/// Any thread; the role changes once, by <see cref="BecomePrimary"/>.
/// </summary>
internal sealed class ReplicaLog
{
    private readonly LogFollower? _follower;
    private LogWriter? _writer;

    private ReplicaLog(LogFollower? follower, LogWriter? writer)
    {
        _follower = follower;
        _writer = writer;
    }

    public static ReplicaLog Of(LogWriter writer) => new(null, writer);

    public static ReplicaLog Of(LogFollower follower) => new(follower, null);

    /// <summary>True once this replica is the one that writes.</summary>
    public bool IsWritten => Volatile.Read(ref _writer) is not null;

    /// <exception cref="InvalidOperationException">I10: a secondary never logs.</exception>
    public LogWriter Writer => Volatile.Read(ref _writer) ?? throw new InvalidOperationException("a secondary logs nothing (I10)");

    /// <summary>Records below this may be executed: durable by our own commits, or stated as durable by the primary (F3).</summary>
    public Lsn Durable => Volatile.Read(ref _writer)?.Durable ?? _follower!.Stated;

    /// <summary>
    /// A primary's app has executed what came before it once it has executed what is below this. In a new log that is what the log begins
    /// with, which may not be durable yet, or wait for room.
    /// </summary>
    public Lsn DurableOrFirst => Durable is var durable && durable > Lsn.Zero ? durable : Lsn.Max(new Lsn(1), Writer.TailPageEnd);

    /// <summary>It is the highest position that the log on disk states as durable.</summary>
    public Lsn Stated => Volatile.Read(ref _writer)?.Stated ?? _follower!.Stated;

    /// <summary>The epoch in force: our own, or that of the primary that we follow.</summary>
    public Epoch Epoch => Volatile.Read(ref _writer)?.Epoch ?? _follower!.Epoch;

    /// <summary>Log bytes between two digest positions.</summary>
    public ulong DigestEvery => Volatile.Read(ref _writer)?.DigestEvery ?? _follower!.DigestEvery
        ?? throw new InvalidOperationException("the log has no segment yet");

    /// <summary>The app version in force where the log ends, as far as this replica knows it; 0 before the first record.</summary>
    public uint AppVersion => Volatile.Read(ref _writer)?.AppVersion ?? _follower!.AppVersion;

    /// <summary>A durable page that is still in memory; never on a secondary.</summary>
    public bool TryPin(Lsn page, out PinnedPage pinned)
    {
        if (Volatile.Read(ref _writer) is { } own) return own.TryPin(page, out pinned);
        pinned = default;
        return false;
    }

    /// <summary>This replica has taken the log over.</summary>
    public void BecomePrimary(LogWriter taken)
    {
        if (taken.Durable < _follower!.Stated)
            throw new InvalidOperationException(
                $"the log was taken over up to {taken.Durable}, and {_follower.Stated} was stated as durable (I12)");
        if (Interlocked.CompareExchange(ref _writer, taken, null) is not null)
            throw new InvalidOperationException("this replica is primary already");
    }
}
