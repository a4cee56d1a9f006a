using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// The primary's side of checkpoints: logs the marks that are due, with the name of whoever is to take it, and looks whether that one has.
/// Both need a listing of the log's directory, which may take its time: the ticking thread decides what is due, and the thread that
/// writes checkpoints does it. It owns what is due; as long as something is, the ticking thread leaves everything alone.
/// </summary>
/// <param name="tryAdopt">Counts another replica's checkpoint; false: this replica's app has not come there yet.</param>
internal sealed class CheckpointScheduler(
    CoordinatorInputs inputs, CheckpointTrigger trigger, CheckpointAssigner assigner, LogAppender appender, SecondOpinion opinion,
    Func<CheckpointFileName, bool> tryAdopt)
{
    /// <summary>Between two looks at the directory.</summary>
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(200);

    private readonly IFileSystem _files = inputs.Files;
    private readonly string _directory = inputs.Options.LogDirectory;

    /// <summary>The time of the last look; null: there was none. The ticking thread's.</summary>
    private TimeSpan? _lookedAt;

    /// <summary>Since this time the work that is due has been so. It is written before <see cref="_due"/> and read behind it.</summary>
    private TimeSpan _dueSince;

    /// <summary>The ticking thread sets it where there is none, the thread that writes checkpoints takes it back when it is done.</summary>
    private volatile Due _due;

    private enum Due { Nothing, Look, Mark }

    /// <summary>The replica is about to end: its marks name itself, and ask for an image at once.</summary>
    public bool IsLast { get => _isLast; set => _isLast = value; }

    private volatile bool _isLast;

    /// <summary>Something is due. Any thread.</summary>
    public bool HasWork => _due != Due.Nothing;

    /// <summary>Decides what is due; true: there is work since now. The ticking thread.</summary>
    /// <param name="now">Monotonic.</param>
    /// <param name="mayMark">The app executes the log's end, so a checkpoint makes sense.</param>
    public bool Tick(Lsn durable, EmittedBytes outputs, TimeSpan now, bool mayMark)
    {
        if (HasWork) return false;
        Due due = assigner.Assignee is not null && IsTimeToLook(now) ? Due.Look
            : mayMark && trigger.Claim(durable, outputs, now) ? Due.Mark : Due.Nothing;
        _dueSince = now;
        _due = due;
        return due != Due.Nothing;
    }

    private bool IsTimeToLook(TimeSpan now)
    {
        if (_lookedAt is { } last && now - last < s_lookEvery) return false;
        _lookedAt = now;
        return true;
    }

    /// <summary>Does what is due; false: nothing was. The thread that writes checkpoints.</summary>
    public bool Step(Epoch epoch)
    {
        Due due = _due;
        if (due == Due.Nothing) return false;
        if (due == Due.Look ? Look(epoch, _dueSince) : Mark(epoch, _dueSince)) appender.WakeCommitter(drained: false);
        _due = Due.Nothing;
        return true;
    }

    private bool Look(Epoch epoch, TimeSpan now)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(_files, _directory))
        {
            if (name.Lsn < assigner.Mark || name.Replica != assigner.Assignee) continue;
            if (tryAdopt(name)) assigner.Done();
            return false;
        }
        string holder = assigner.Assignee!;
        // Who ends waits for no other: the next mark names itself.
        if (!IsLast && !assigner.MustMove(ReplicaLock.ListRunning(_files, _directory), now)) return false;
        inputs.Logger.CheckpointReassigned(holder);
        return Mark(epoch, now);
    }

    private bool Mark(Epoch epoch, TimeSpan now)
    {
        IReadOnlyList<string> present = ReplicaLock.ListRunning(_files, _directory);
        string replica = IsLast || opinion.IsDue(present) ? inputs.Options.Replica : assigner.Choose(present);
        ulong bound = inputs.Options.MarkBoundBytes; // 0: an image never holds suspended handlers
        var mark = new CheckpointMarkRecord(epoch, IsLast ? Math.Min(bound, 1) : bound, replica);
        if (!appender.TryAppend(mark, out Lsn end))
        {
            trigger.GiveBack();
            assigner.Done();
            return false;
        }
        assigner.Marked(replica, end, now);
        return true;
    }
}
