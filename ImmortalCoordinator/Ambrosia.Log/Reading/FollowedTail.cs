using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What a follower knows of the log's last segment: a take-over need not read what lies below.</summary>
/// <param name="Head">The segment; the knowledge is void when the chain has got another head since.</param>
/// <param name="Stated">Beginning of a page, stated as durable in this segment or by its seal.</param>
/// <param name="PreviousHash">Hash of the page before it.</param>
/// <param name="TimeMicros">Of the last page below it in this segment, so no later page may be older; 0: there is none. The header's time
/// is no such bound: a tail that was logged again keeps its times, and is older than the segment.</param>
public sealed record FollowedTail(SegmentFileName Head, Lsn Stated, ulong PreviousHash, long TimeMicros);
