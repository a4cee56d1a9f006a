using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// What it means that no valid page follows in the chain's last segment (log-format L8.1, L8.2): the log ends there, silently or with a
/// torn tail, or it is damaged. One rule for take-over and for readers.
/// </summary>
internal sealed class TailJudge(IFileSystem fs, string dir, InstanceIdentity identity, PageInspector inspector)
{
    /// <summary>Why a page that breaks a rule is no torn one (log-format L4.2).</summary>
    public const string Intact = "its checksums hold, and no crash leaves such a page";

    private readonly LogSegment _head = inspector.Segment;

    /// <param name="pages">What was read; incomplete records are dropped from it.</param>
    /// <param name="damage">Where the page is missing.</param>
    /// <returns>A halt where something states a position behind it as durable.</returns>
    public ReadVerdict Judge(IFile file, PageSequence pages, Lsn damage, PageFault fault, ref PageBuffer buffer)
    {
        if (fault.IsIntact) return Halt(damage, fault, Intact, pages.Stated);
        var search = new BehindSearch(inspector, file);
        search.Run(damage, fault, new Lsn(ulong.MaxValue), false, ref buffer);
        if (search.Stated > damage)
            return Halt(damage, fault, $"the page at {search.StatedBy} states {search.Stated} as durable", pages.Stated);
        if (HigherCheckpoint(pages.Next) is { } checkpoint)
            return Halt(damage, fault, $"{checkpoint} contains what was logged there", pages.Stated);
        Lsn end = pages.Next;
        if (end == damage && search.ContentEnd == end) return new ReadVerdict.Whole(end, pages.Stated);
        string reason = end < damage
            ? $"the spanning record there is incomplete: {pages.Missing} bytes of it are missing behind {damage}"
            : $"expected {fault.Expected}, found {fault.Found}";
        return new ReadVerdict.Cut(end, search.ContentEnd - end, _head.Path, _head.Header.OffsetOf(end), reason, pages.Stated);
    }

    /// <summary>A valid checkpoint of a position behind the end: it got its name only when that position was stated as durable.</summary>
    private CheckpointFileName? HigherCheckpoint(Lsn end)
    {
        foreach (CheckpointFileName name in Checkpoints.List(fs, dir))
            if (name.Lsn > end && Checkpoints.IsValid(fs, dir, name, identity)) return name;
        return null;
    }

    private ReadVerdict.Halt Halt(Lsn lsn, PageFault fault, string because, Lsn stated) =>
        new(lsn, _head.DamageAt(lsn, fault, because), stated);
}
