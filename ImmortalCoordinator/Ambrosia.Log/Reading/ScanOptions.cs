using Ambrosia.Protocol;

namespace Ambrosia.Log.Reading;

/// <summary>Says what a <see cref="LogScan"/> reads, and what it does when something is wrong.</summary>
public sealed record ScanOptions
{
    /// <summary>
    /// The page to begin with; null begins with the oldest kept. It must begin a page outside of spanning records, as a checkpoint's
    /// PageLsn does.
    /// </summary>
    public Lsn? From { get; init; }

    /// <summary>
    /// Hash of the page before <see cref="From"/>, when a checkpoint states it; with null the first page's own statement is taken.
    /// </summary>
    public ulong? PreviousHash { get; init; }

    /// <summary>
    /// True notes damage and goes on at the next valid page, so that all that can still be read is read; the verdict stays the first halt.
    /// </summary>
    public bool GoesOn { get; init; }

    /// <summary>
    /// True ends behind the segment that is the last when reading begins; a log that grows faster than it is read would otherwise have no
    /// end.
    /// </summary>
    public bool EndsWithHead { get; init; }
}
