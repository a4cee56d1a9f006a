using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Makes the first segment of a new primary (log-format L7.3, F2): a temporary file with its header and the tail that is logged again,
/// which appears whole by one rename. Nothing of it counts before the fence check that follows. One thread, one use.
/// </summary>
/// <param name="fence">The claim of this process; it is checked when the segment has its name.</param>
/// <param name="replica">The name of the replica that takes over, which is part of the temporary name.</param>
/// <param name="spare">The file that this process has set aside for its promotion; null when there is none.</param>
internal sealed class FirstSegment(LogLocation location, Fence fence, string replica, LogOptions options, PromotionSpare? spare)
{
    /// <summary>Returns true when the segment will be made of this file, so that it is no left-over.</summary>
    public bool IsMadeOf(string path) => path == spare?.Path;

    /// <summary>Makes the segment that a log begins with.</summary>
    /// <param name="lastHash">The hash of the page before the first one that will be written.</param>
    public SegmentFile Begin(LogChain chain, SegmentHeader header, out ulong lastHash)
    {
        SegmentFile file = Create(header, 0);
        lastHash = header.PredecessorHash;
        Publish(file, chain);
        return file;
    }

    /// <summary>Makes the segment that follows the log's old head, whole with the tail of that.</summary>
    /// <param name="tail">The pages of <paramref name="from"/> that nothing states as durable.</param>
    /// <param name="buffer">The tail is read once more through it.</param>
    /// <param name="lastHash">The hash of the page before the first one that will be written.</param>
    public SegmentFile Continue(
        LogChain chain, SegmentHeader header, IReadOnlyList<TailPage> tail, LogSegment from, ref PageBuffer buffer, out ulong lastHash)
    {
        SegmentFile file = Create(header, tail.Count == 0 ? 0 : tail[^1].Header.Next - tail[0].Header.Lsn);
        lastHash = Relog(file, header, tail, from, ref buffer);
        Publish(file, chain);
        return file;
    }

    /// <summary>Makes the temporary file with room for <paramref name="bytes"/> of pages, and writes its header.</summary>
    private SegmentFile Create(SegmentHeader header, long bytes)
    {
        string name = new SegmentFileName(header.Number, header.Epoch).ToString();
        string temporary = location.PathOf(new TemporaryFileName(name, replica, header.Epoch).ToString());
        location.Crash.Hit("segment.beforeCreate");
        SegmentFile file = spare?.TakeFor(temporary, bytes) ?? SegmentFile.Create(location.Files, temporary, options, bytes);
        location.Crash.Hit("segment.afterLength");
        file.WriteHeader(header);
        return file;
    }

    /// <summary>
    /// Writes the tail again with the same Lsns, boundaries, times and records; epoch, hashes and CRCs are those of the new segment.
    /// Returns the hash of the last page.
    /// </summary>
    private ulong Relog(SegmentFile to, SegmentHeader header, IReadOnlyList<TailPage> tail, LogSegment from, ref PageBuffer buffer)
    {
        ulong hash = header.PredecessorHash;
        uint seed = PageHeader.SeedOf(header.Uuid, header.Shard);
        var inspector = new PageInspector(from);
        using IFile file = location.Files.Open(from.Path, FileUse.ReadPages);
        foreach (TailPage page in tail)
        {
            Lsn lsn = page.Header.Lsn;
            if (inspector.Read(file, lsn, new Lsn(ulong.MaxValue), page.Header.PreviousHash, ref buffer) is { } fault)
                throw new LogDamage(from.Path, from.Header.OffsetOf(lsn), lsn, $"{fault.Expected}, as it was read before", fault.Found);
            (page.Header with { Epoch = header.Epoch, PreviousHash = hash }).Write(buffer.Room, seed);
            hash = PageHeader.HashOf(buffer.Room);
            to.WriteRelogged(buffer.RoomMemory[..page.Header.Footprint], lsn);
            location.Crash.Hit("takeover.midRelog");
        }
        return hash;
    }

    /// <summary>Flushes the file, gives it its segment's name, and adds it to the chain if the claim still stands then.</summary>
    private void Publish(SegmentFile file, LogChain chain)
    {
        file.ZeroFirst();
        file.Flush();
        location.Crash.Hit("segment.afterCreate");
        string path = location.PathOf(new SegmentFileName(file.Header.Number, file.Header.Epoch).ToString());
        if (!file.TryPublish(path))
            throw new LogDamage(path, 0, file.Header.FirstLsn, "no segment of an epoch that was claimed just now", "one");
        location.Crash.Hit("takeover.afterRename");
        location.Flush();
        location.Crash.Hit("segment.afterDirFsync");
        fence.Check();
        chain.Append(new LogSegment(path, file.Header));
    }
}
