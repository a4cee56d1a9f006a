using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>One file of the log's chain.</summary>
public sealed record LogSegment(string Path, SegmentHeader Header)
{
    public Lsn FirstLsn => Header.FirstLsn;

    public SegmentFileName Name => new(Header.Number, Header.Epoch);

    /// <summary>The halt (log-format L8.2) for what stands at a page's place.</summary>
    /// <param name="because">Why it cannot be a torn tail.</param>
    internal LogDamage DamageAt(Lsn page, PageFault fault, string because)
    {
        Lsn at = fault.Record ?? page;
        return new LogDamage(Path, Header.OffsetOf(at), at, $"{fault.Expected}, because {because}", fault.Found);
    }

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
