using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// The segment that a <see cref="LogScan"/> reads. Its file is open and locked shared, so that no truncation takes it. One thread.
/// </summary>
internal sealed class ScannedSegment : IDisposable
{
    private readonly ReadAhead _ahead;
    private bool _isBegun;

    private ScannedSegment(LogSegment segment, IFile file)
    {
        Inspector = new PageInspector(segment);
        File = file;
        _ahead = new ReadAhead(file);
    }

    /// <summary>The end of a segment that has no successor yet.</summary>
    public static Lsn Unbounded { get; } = new(ulong.MaxValue);

    public LogSegment Segment => Inspector.Segment;

    public PageInspector Inspector { get; }

    public IFile File { get; }

    /// <summary>The position where the segment ends by its successor's seal, or <see cref="Unbounded"/>.</summary>
    public Lsn End { get; set; } = Unbounded;

    /// <summary>True while nothing says where the segment ends, so that the log may go on in it.</summary>
    public bool IsLast => End == Unbounded;

    /// <summary>The place of a page that was written while its absence was classified; it is looked at anew once.</summary>
    public Lsn? LookedAgainAt { get; set; }

    /// <summary>
    /// Opens a segment; returns null when it was truncated. The kernel reads ahead by itself, since <see cref="ReadAhead"/> asks for
    /// nothing of the last one.
    /// </summary>
    public static ScannedSegment? TryOpen(LogSegment segment, IFileSystem fs) =>
        segment.TryOpen(fs, isHeld: true, FileUse.Read) is { } file ? new ScannedSegment(segment, file) : null;

    /// <summary>
    /// Asks for what stands ahead of a page, if it is not the only one that is read. Of a segment in which the log may go on nothing is
    /// asked for: a primary may be writing there.
    /// </summary>
    public void ReadAhead(Lsn at)
    {
        if (_isBegun && !IsLast) _ahead.From(Segment.Header.OffsetOf(at), Segment.Header.OffsetOf(End));
        _isBegun = true;
    }

    public void Dispose() => File.Dispose();
}

/// <summary>
/// Judges whether a log may begin where its oldest segment does: a log that does not begin at 0 was truncated below a checkpoint, or a
/// segment is missing (log-format L3.2). Any thread.
/// </summary>
internal static class LogBeginning
{
    /// <summary>Checks the beginning of a log.</summary>
    /// <exception cref="LogDamage">Nothing covers what is missing below the oldest segment.</exception>
    public static void Check(LogLocation location, LogSegment oldest)
    {
        if (oldest.Header.PredecessorNumber == 0 || IsBelowACheckpoint(location, oldest.FirstLsn)) return;
        var missing = new SegmentFileName(oldest.Header.PredecessorNumber, oldest.Header.PredecessorEpoch);
        throw new LogDamage(location.PathOf(missing.ToString()), 0, oldest.FirstLsn,
            $"the log below {oldest.FirstLsn}, or a valid checkpoint from there on", "neither");
    }

    /// <summary>
    /// Returns true when a valid checkpoint covers what is missing below <paramref name="oldest"/>. A live log replaces its checkpoints:
    /// those that were listed may all be gone before they are read, so the directory is listed until it stays the same.
    /// </summary>
    private static bool IsBelowACheckpoint(LogLocation location, Lsn oldest)
    {
        IReadOnlyList<CheckpointFileName> listed, before = [];
        while (!(listed = CheckpointDirectory.List(location.Files, location.Directory)).SequenceEqual(before))
        {
            foreach (CheckpointFileName name in listed)
                if (CheckpointReader.TryReadHeader(location, name) is { } header && header.PageLsn >= oldest
                    && CheckpointDirectory.TryReadHeader(location, name) is not null) return true;
            before = listed;
        }
        return false;
    }
}
