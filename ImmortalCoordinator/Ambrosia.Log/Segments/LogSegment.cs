using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>One file of the log's chain.</summary>
public sealed record LogSegment(string Path, SegmentHeader Header)
{
    public Lsn FirstLsn => Header.FirstLsn;

    public SegmentFileName Name => new(Header.Number, Header.Epoch);
}
