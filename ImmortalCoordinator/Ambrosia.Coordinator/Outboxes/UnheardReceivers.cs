using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Knows the receivers of calls that have yet to say what they have of them, since this process became primary. A replay that makes other
/// calls than before shows in their hellos at the latest (protocol P6.4), so no history is removed, no checkpoint is taken and no digest is
/// logged before: what a build that differs leaves in the log, the right one would be held against for ever. But a receiver may be away
/// for long, and is waited for only a while. Before the replay is over all are awaited. Any thread; one lock.
/// </summary>
internal sealed class UnheardReceivers(TimeProvider time)
{
    /// <summary>
    /// A receiver that runs is reached in a few seconds: it is dialled again after two at the most, after ten where hellos were refused.
    /// </summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly RankedLock _gate = new(LockRank.UnheardReceivers);

    /// <summary>It is null until the replay is over.</summary>
    private HashSet<InstanceId>? _awaited;

    /// <summary>Nobody is waited for from here on. Monotonic.</summary>
    private TimeSpan _until;

    /// <summary>The replay is over, and links open.</summary>
    /// <param name="receivers">All that are known to have been called.</param>
    public void Begin(IEnumerable<InstanceId> receivers)
    {
        HashSet<InstanceId> awaited = [.. receivers]; // which asks the outboxes: before the lock
        using (_gate.Enter()) (_awaited, _until) = (awaited, Now + Patience);
    }

    /// <summary>What the receiver has is what was made; or nobody will ever ask it again.</summary>
    public void Heard(InstanceId receiver)
    {
        using (_gate.Enter()) _awaited?.Remove(receiver);
    }

    /// <summary>True while one of them may yet say that it has other calls.</summary>
    public bool AreAwaited
    {
        get
        {
            using (_gate.Enter()) return _awaited is null || (_awaited.Count > 0 && Now < _until);
        }
    }

    private TimeSpan Now => time.GetElapsedTime(0);
}
