using Ambrosia.Log.Files;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>
/// The segment that a <see cref="LogScan"/> reads. Its file is open and locked shared, so that no truncation takes it. One thread.
/// </summary>
internal sealed class ScannedSegment : IDisposable
{
    private ScannedSegment(LogSegment segment, IFile file)
    {
        Inspector = new PageInspector(segment);
        File = file;
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

    /// <summary>Opens a segment; returns null when it was truncated.</summary>
    public static ScannedSegment? TryOpen(LogSegment segment, IFileSystem fs) =>
        segment.TryOpen(fs, isHeld: true) is { } file ? new ScannedSegment(segment, file) : null;

    public void Dispose() => File.Dispose();
}
