using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What a follower knows of the log's last segment: a take-over need not read what lies below.</summary>
/// <param name="Head">The segment; the knowledge is void when the chain has got another head since.</param>
/// <param name="Stated">Beginning of a page, stated as durable in this segment or by its seal.</param>
/// <param name="PreviousHash">Hash of the page before it.</param>
/// <param name="TimeMicros">No page below has a later time.</param>
public sealed record FollowedTail(SegmentFileName Head, Lsn Stated, ulong PreviousHash, long TimeMicros);
