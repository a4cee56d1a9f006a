using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Checkpoints;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Cuts;

/// <summary>
/// Chooses the checkpoint with which a cut begins. A build that mends what went wrong has other bodies, so it may be unable to continue
/// what is suspended: the newest checkpoint in which nothing is suspended serves best, where there is one.
/// </summary>
/// <param name="Name">Null: the cut begins with the log's first record.</param>
/// <param name="Suspended">So many methods are suspended in it; null: its image does not say it.</param>
internal sealed record CutBeginning(CheckpointFileName? Name, long? Suspended)
{
    /// <summary>The word for the log's first record in place of a checkpoint.</summary>
    public const string Start = "start";

    /// <summary>The position where execution begins.</summary>
    public Lsn From => Name?.Lsn ?? Lsn.Zero;

    /// <param name="place">The message with which the cut ends.</param>
    /// <param name="asked">A checkpoint's name, Lsn or number from the newest, or <see cref="Start"/>; null: the best.</param>
    /// <exception cref="MisuseException">There is no such one below the place.</exception>
    public static CutBeginning Choose(LogLocation log, MessagePlace place, string? asked)
    {
        LogChain chain = LogChain.Load(log.Files, log.Directory, log.Identity);
        bool isWhole = chain.Segments is [var oldest, ..] && oldest.FirstLsn == Lsn.Zero;
        CheckpointFileName[] names = [.. CheckpointDirectory.List(log.Files, log.Directory)];
        if (asked is not null) return Named(log, names, place, asked, isWhole);
        // A checkpoint that a later epoch has taken tells of segments that the cut does not have (log-format L8.8).
        Epoch last = chain.TryFind(place.Record, out LogSegment end, out _) ? end.Epoch : default;
        CutBeginning? newest = null;
        foreach (CheckpointFileName name in names)
        {
            if (name.Lsn > place.Record || name.Epoch > last || CheckpointNotice.TryRead(log, name) is not { } notice
                || !chain.TryFind(notice.Header.PageLsn, out _, out _)) continue;
            var beginning = new CutBeginning(name, notice.Suspended);
            if (notice.Suspended is null or 0) return beginning;
            newest ??= beginning;
        }
        return newest ?? (isWhole ? new CutBeginning(null, 0) : throw NothingBelow(place));
    }

    private static CutBeginning Named(LogLocation log, CheckpointFileName[] names, MessagePlace place, string asked, bool isWhole)
    {
        if (asked == Start)
            return isWhole ? new CutBeginning(null, 0) : throw new MisuseException("this log is not kept from its first record on", "",
                "give a checkpoint ('ambrosia log' lists them), or leave --checkpoint out");
        if (names.Length == 0)
            throw new MisuseException("this log has no checkpoint", "it is executed from its first record", "leave --checkpoint out");
        CheckpointFileName name = CheckpointChoice.Find(names, asked);
        if (name.Lsn > place.Record)
            throw new MisuseException($"{name} is behind {place}", "execution begins before the message", "give an older checkpoint");
        return new CutBeginning(name, CheckpointNotice.TryRead(log, name)?.Suspended);
    }

    private static MisuseException NothingBelow(MessagePlace place) => new($"no sound checkpoint is at or below {place}",
        "execution has to begin somewhere", "choose a later place, or cut a copy of the log that has an older checkpoint");
}
