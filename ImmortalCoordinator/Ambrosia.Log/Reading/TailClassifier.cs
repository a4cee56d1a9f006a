using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Decides what it means that no valid page follows in the chain's last segment (log-format L8.1, L8.2): the log ends there, silently or
/// with a torn tail, or it is damaged. Take-over and readers share this one rule. One thread.
/// </summary>
internal sealed class TailClassifier(LogLocation location, PageInspector inspector)
{
    private readonly LogSegment _head = inspector.Segment;

    /// <summary>Says what it means that no valid page stands at <paramref name="damage"/>.</summary>
    /// <param name="pages">The pages that were read; incomplete records were dropped from them.</param>
    /// <param name="damage">The position where the page is missing.</param>
    /// <returns>A halt where something states a position behind it as durable.</returns>
    public ReadVerdict Classify(IFile file, PageSequence pages, Lsn damage, PageFault fault, ref PageBuffer buffer)
    {
        if (fault.WhyNeverTorn is { } why) return Halt(damage, fault, why, pages.Stated);
        var scan = new ResyncScan(inspector, file);
        scan.Search(damage, fault, new Lsn(ulong.MaxValue), false, ref buffer);
        if (scan.Stated > damage)
            return Halt(damage, fault, $"the page at {scan.StatedBy} states {scan.Stated} as durable", pages.Stated);
        if (HigherCheckpoint(pages.Next) is { } checkpoint)
            return Halt(damage, fault, $"{checkpoint} contains what was logged there", pages.Stated);
        Lsn end = pages.Next;
        if (end == damage && scan.ContentEnd == end) return new ReadVerdict.CleanEnd(end, pages.Stated);
        string reason = end < damage
            ? $"the spanning record there is incomplete: {pages.Missing} bytes of it are missing behind {damage}"
            : $"expected {fault.Expected}, found {fault.Found}";
        return new ReadVerdict.TornTail(end, scan.ContentEnd - end, _head.Path, _head.Header.OffsetOf(end), reason, pages.Stated);
    }

    /// <summary>
    /// Returns a valid checkpoint of a position behind the end; it got its name only when that position was stated as durable.
    /// </summary>
    private CheckpointFileName? HigherCheckpoint(Lsn end)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(location.Files, location.Directory))
            if (name.Lsn > end && CheckpointDirectory.TryReadHeader(location, name) is not null) return name;
        return null;
    }

    private ReadVerdict.Halt Halt(Lsn lsn, PageFault fault, string because, Lsn stated) =>
        new(lsn, _head.DamageAt(lsn, fault, because), stated);
}
