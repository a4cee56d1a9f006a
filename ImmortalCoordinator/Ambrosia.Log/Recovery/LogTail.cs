using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>Where a new primary goes on.</summary>
/// <param name="File">The segment of its own, open for writing.</param>
/// <param name="LastHash">Hash of the last page, in the new segment.</param>
/// <param name="RecordsEnd">End of the last page that is no durable mark.</param>
internal sealed record LogTail(SegmentFile File, ReadVerdict Verdict, ulong LastHash, Lsn RecordsEnd);
