using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Runs truncations and tells the operator what is worth a line, once each; a segment that a reader holds is tried again after a while, and
/// goes all the same when <paramref name="holds"/> says that it has been enough.
/// Runs come from the thread that writes checkpoints, the question when from whoever ticks.
/// </summary>
internal sealed class RetentionScheduler(Truncation truncation, SegmentHolds holds, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan s_retryAfter = TimeSpan.FromSeconds(10);

    private readonly RankedLock _gate = new(LockRank.RetentionScheduler);
    private readonly HashSet<string> _logged = [];
    private TimeSpan? _retryAt;

    /// <summary>The segment that a reader keeps from being removed; null: none is kept. Any thread.</summary>
    public SegmentHold? Held => holds.Current;

    /// <summary>Sets which checkpoints do not count among those that stay. Before the first run.</summary>
    public Predicate<CheckpointFileName> IsUnusable { set => truncation.IsUnusable = value; }

    /// <summary>All of it was read back from the device. The thread that runs.</summary>
    public void MarkVerified(CheckpointHeader checkpoint) => truncation.MarkVerified(checkpoint);

    /// <param name="published">A checkpoint that got its name just now; null: none did.</param>
    public void Run(CheckpointHeader? published)
    {
        if (published is not null) truncation.MarkVerified(published);
        TruncateResult result = truncation.Truncate(time.GetUtcNow());
        foreach (CheckpointFileName name in result.Damaged)
            if (_logged.Add(name.ToString())) logger.CheckpointDamaged(name.ToString());
        if (result.Held is { } held && _logged.Add(held.Path)) logger.HistoryHeld(held.Path);
        foreach (SegmentHold taken in result.Taken) logger.HistoryTaken(taken.Segment.Path, taken.Since, taken.Bytes >> 20);
        using (_gate.Enter()) _retryAt = result.Held is null ? null : time.GetElapsedTime(0) + s_retryAfter;
    }

    /// <summary>True, once: what was held is to be tried again now.</summary>
    /// <param name="now">Monotonic.</param>
    public bool IsDue(TimeSpan now)
    {
        using (_gate.Enter())
        {
            if (_retryAt is not { } at || now < at) return false;
            _retryAt = null;
            return true;
        }
    }
}
