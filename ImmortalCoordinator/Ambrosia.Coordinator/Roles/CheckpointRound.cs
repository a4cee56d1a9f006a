using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The primary's side of checkpoints: logs the marks that are due, with the name of whoever is to take it, and looks whether that one has.
/// Owns nothing but the time of its last look. The ticking thread.
/// </summary>
internal sealed class CheckpointRound(
    IFileSystem files, CoordinatorOptions options, CheckpointDuty duty, CheckpointRota rota, LogAppender appender,
    Action<CheckpointFileName> adopt, Action<string> say)
{
    /// <summary>Between two looks at the directory.</summary>
    private static readonly TimeSpan lookEvery = TimeSpan.FromMilliseconds(200);

    private DateTimeOffset lookedAt;

    /// <summary>True when a mark was appended.</summary>
    /// <param name="mayMark">The app executes the log's end, so a checkpoint makes sense.</param>
    public bool Tick(Epoch epoch, Lsn durable, EmittedBytes outputs, DateTimeOffset now, bool mayMark)
    {
        if (rota.OnDuty is not null && IsTimeToLook(now)) return Look(epoch, now);
        return mayMark && duty.Claim(durable, outputs, now) && Mark(epoch, now);
    }

    private bool IsTimeToLook(DateTimeOffset now)
    {
        if (now - lookedAt < lookEvery && now >= lookedAt) return false;
        lookedAt = now;
        return true;
    }

    private bool Look(Epoch epoch, DateTimeOffset now)
    {
        foreach (CheckpointFileName name in Checkpoints.List(files, options.LogDirectory))
        {
            if (name.Lsn < rota.Mark || name.Replica != rota.OnDuty) continue;
            rota.Done();
            adopt(name);
            return false;
        }
        string holder = rota.OnDuty!;
        if (!rota.MustMove(ReplicaLock.Present(files, options.LogDirectory), now)) return false;
        say($"checkpoint: replica {holder} has the duty and is gone, or does nothing; it moves");
        return Mark(epoch, now);
    }

    private bool Mark(Epoch epoch, DateTimeOffset now)
    {
        string replica = rota.Choose(ReplicaLock.Present(files, options.LogDirectory));
        var mark = new CheckpointMarkRecord(epoch, options.MarkBoundBytes, replica);
        if (!appender.TryAppend(RecordKind.CheckpointMark, RecordKinds.Encode(mark), out Lsn end))
        {
            duty.GiveBack();
            rota.Done();
            return false;
        }
        rota.Marked(replica, end, now);
        return true;
    }
}
