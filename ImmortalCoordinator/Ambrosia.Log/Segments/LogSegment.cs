using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>One file of the log's chain.</summary>
public sealed record LogSegment(string Path, SegmentHeader Header)
{
    public Lsn FirstLsn => Header.FirstLsn;

    public SegmentFileName Name => new(Header.Number, Header.Epoch);

    /// <summary>
    /// Reads the header again. False: the file that a reader has open holds another one now, so it was recycled and the segment is gone;
    /// the header changes before anything else in the file does (log-format L3.5).
    /// </summary>
    internal bool IsStillIn(IFile file)
    {
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        int count = file.Read(bytes, 0);
        return count == SegmentHeader.Bytes && SegmentHeader.IsThatOf(bytes, Header);
    }
}
