using System.Collections.Immutable;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Log.Segments;

/// <summary>
/// Knows the log's segments, oldest first. The head is the one of the highest epoch, then number, and each segment names its predecessor
/// (log-format L3.2). Invariant: first Lsns never decrease along the chain, and each segment but the last ends at the first Lsn of the next
/// (L3.3). Any thread may read; one at a time changes it (the committer at rotation, the truncation, a follower's refresh).
/// </summary>
public sealed class LogChain
{
    /// <summary>A live log may truncate its head between a listing and the look at it, but not this often.</summary>
    private const int ListingsMax = 8;

    private readonly RankedLock _changing = new(LockRank.LogChain);
    private readonly bool _takesAnyLength;
    private ImmutableArray<LogSegment> _segments;

    /// <param name="takesAnyLength">True where files may be shorter or longer than their headers state: their pages are read all the
    /// same.</param>
    internal LogChain(ImmutableArray<LogSegment> segments, bool takesAnyLength = false)
    {
        _segments = segments;
        _takesAnyLength = takesAnyLength;
    }

    /// <summary>A snapshot, oldest first; empty before the first start.</summary>
    public ImmutableArray<LogSegment> Segments => ImmutableInterlocked.InterlockedCompareExchange(ref _segments, default, default);

    /// <summary>Reads the chain of a directory.</summary>
    /// <param name="takesAnyLength">True for a tool that reads what is left of files that were cut.</param>
    /// <exception cref="LogDamage">A header is damaged, two headers contradict one another, or a file is not as long as its header
    /// states.</exception>
    public static LogChain Load(IFileSystem fs, string dir, InstanceIdentity identity, bool takesAnyLength = false) =>
        Load(new LogLocation(fs, dir, identity), takesAnyLength);

    /// <inheritdoc cref="Load(IFileSystem, string, InstanceIdentity, bool)"/>
    internal static LogChain Load(LogLocation location, bool takesAnyLength = false) =>
        new(Read(location, takesAnyLength), takesAnyLength);

    /// <summary>
    /// Finds the segment that holds a position, and where the segment ends: at the maximum <see cref="Lsn"/> for the last one, which is
    /// still growing.
    /// </summary>
    /// <returns>False when the position lies before the oldest segment kept.</returns>
    public bool TryFind(Lsn lsn, out LogSegment segment, out Lsn end)
    {
        ImmutableArray<LogSegment> segments = Segments;
        int i = IndexAt(segments, lsn);
        segment = i >= 0 ? segments[i] : null!;
        end = i >= 0 && i < segments.Length - 1 ? segments[i + 1].FirstLsn : new Lsn(ulong.MaxValue);
        return i >= 0;
    }

    /// <summary>
    /// Returns the app version that executes what stands right before a position (log-format L4.6); 0 before the log's first record. A
    /// position before the oldest segment has the version of the oldest. Where the page that says it is damaged, or not there yet, the
    /// header before it counts: whoever reads on finds that.
    /// </summary>
    public uint VersionAt(IFileSystem files, Lsn lsn)
    {
        ImmutableArray<LogSegment> segments = Segments;
        if (segments.IsEmpty) return 0;
        int i = Math.Max(IndexAt(segments, lsn), 0);
        if (lsn <= segments[i].FirstLsn) return segments[i].Header.AppVersion;
        return i < segments.Length - 1 ? segments[i + 1].Header.AppVersion
            : segments[i].VersionBehindFirstPage(files) ?? segments[i].Header.AppVersion;
    }

    /// <summary>Returns the app version in force where the log ends.</summary>
    public uint NewestVersion(IFileSystem files) => VersionAt(files, new Lsn(ulong.MaxValue >> 2)); // behind anything a log can reach

    /// <summary>Returns the newest version below this one of which there are records; null: there are none.</summary>
    public uint? NewestBelow(IFileSystem files, uint version)
    {
        uint below = Segments.Select(segment => VersionBehind(segment, files)).Where(each => each < version).DefaultIfEmpty().Max();
        return below == 0 ? null : below;
    }

    /// <summary>Returns the place of the upgrade with which records of later versions begin; null: there are none.</summary>
    public Lsn? FirstAbove(IFileSystem files, uint version)
    {
        foreach (LogSegment segment in Segments)
            if (VersionBehind(segment, files) > version) return segment.FirstLsn; // an Upgrade begins a segment (log-format L5.16)
        return null;
    }

    private uint VersionBehind(LogSegment segment, IFileSystem files) => VersionAt(files, new Lsn(segment.FirstLsn.Value + 1));

    /// <summary>Returns the segments that epochs begin with, as far as they are kept, newest first.</summary>
    public IEnumerable<LogSegment> FindEpochBeginnings()
    {
        ImmutableArray<LogSegment> segments = Segments;
        for (int i = segments.Length - 1; i >= 0; i--)
            if (segments[i].Header.PredecessorEpoch != segments[i].Header.Epoch) yield return segments[i];
    }

    /// <summary>Reads the directory again, for a follower that is at the tail. Returns true when the chain changed.</summary>
    internal bool Refresh(LogLocation location)
    {
        using (_changing.Enter())
        {
            ImmutableArray<LogSegment> now = Read(location, _takesAnyLength);
            if (now.AsSpan().SequenceEqual(_segments.AsSpan())) return false;
            Publish(now);
            return true;
        }
    }

    internal void Append(LogSegment segment)
    {
        using (_changing.Enter())
        {
            if (_segments.Length > 0) CheckNeighbours(_segments[^1], segment);
            Publish(_segments.Add(segment));
        }
    }

    internal void RemoveOldest(LogSegment segment)
    {
        using (_changing.Enter())
        {
            if (_segments.Length < 2 || _segments[0] != segment)
                throw new InvalidOperationException($"{segment.Path} is not the oldest of several segments");
            Publish(_segments.RemoveAt(0));
        }
    }

    /// <summary>Returns the place of the segment that holds a position; -1: the position lies before all of them.</summary>
    private static int IndexAt(ImmutableArray<LogSegment> segments, Lsn lsn)
    {
        int i = segments.Length - 1;
        while (i >= 0 && segments[i].FirstLsn > lsn) i--;
        return i;
    }

    private void Publish(ImmutableArray<LogSegment> segments) => ImmutableInterlocked.InterlockedExchange(ref _segments, segments);

    /// <summary>
    /// Lists the directory and reads the headers. Where even the newest segment was truncated between the listing and the look at it, the
    /// log has gone on, and the directory is listed again, a few times.
    /// </summary>
    /// <exception cref="LogDamage">The newest segment is listed and cannot be opened by its name, again and again; or a header is
    /// damaged.</exception>
    private static ImmutableArray<LogSegment> Read(LogLocation location, bool takesAnyLength)
    {
        for (int listings = 1; ; listings++)
        {
            var found = new Dictionary<string, LogSegment>(StringComparer.Ordinal); // by the file's name: see experiment 11
            SegmentFileName? head = null;
            foreach (string name in location.List())
            {
                if (SegmentFileName.TryParse(name) is not { } file) continue;
                if (head is null || file.CompareTo(head.Value) > 0) head = file;
                if (ReadSegment(location, location.PathOf(name), file, takesAnyLength) is { } segment) found.Add(file.ToString(), segment);
            }
            if (head is null || found.ContainsKey(head.Value.ToString())) return ChainOf(found, head);
            if (listings < ListingsMax) continue;
            throw new LogDamage(location.PathOf(head.Value.ToString()), 0, null, "the newest segment, which the directory lists",
                "nothing that can be opened by this name: a link that leads nowhere, or a listing that is older than the files")
            {
                MayPass = true,
            };
        }
    }

    private static ImmutableArray<LogSegment> ChainOf(Dictionary<string, LogSegment> found, SegmentFileName? head)
    {
        var chain = ImmutableArray.CreateBuilder<LogSegment>();
        for (SegmentFileName? at = head; at is { } name && found.TryGetValue(name.ToString(), out LogSegment? segment);)
        {
            if (chain.Count > 0) CheckNeighbours(segment, chain[^1]);
            chain.Add(segment);
            at = segment.Header.PredecessorNumber == 0 ? null
                : new SegmentFileName(segment.Header.PredecessorNumber, segment.Header.PredecessorEpoch);
        }
        chain.Reverse();
        return chain.ToImmutable();
    }

    private static LogSegment? ReadSegment(LogLocation location, string path, SegmentFileName name, bool takesAnyLength)
    {
        byte[] bytes = new byte[SegmentHeader.Bytes];
        try
        {
            using IFile file = location.Files.Open(path, FileUse.ReadPages);
            int count = LogSegment.Read(file, bytes, 0, path);
            InstanceIdentity identity = location.Identity;
            var segment = new LogSegment(path, SegmentHeader.Read(bytes.AsSpan(0, count), path, name, identity.Uuid, identity.Shard));
            if (!takesAnyLength) segment.CheckLength(file);
            return segment;
        }
        catch (LogDamage) when (!location.Files.Exists(path))
        {
            // It was recycled since the listing: what was read is no segment any more (L3.5).
            return null;
        }
        catch (FileNotFoundException) // it was truncated since the listing
        {
            return null;
        }
    }

    private static void CheckNeighbours(LogSegment older, LogSegment newer)
    {
        if (newer.FirstLsn < older.FirstLsn)
            throw new LogDamage(newer.Path, 72, newer.FirstLsn, $"a seal at or after {older.FirstLsn}, where {older.Path} begins",
                $"{newer.FirstLsn}");
        if (newer.Header.AppVersion < older.Header.AppVersion)
            throw new LogDamage(newer.Path, 88, newer.FirstLsn, $"an app version from {older.Header.AppVersion} on, which {older.Path} states",
                $"{newer.Header.AppVersion}");
    }
}
