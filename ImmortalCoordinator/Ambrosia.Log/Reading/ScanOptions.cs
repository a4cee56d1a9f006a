using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>What a <see cref="LogScan"/> reads, and what it does when something is wrong.</summary>
public sealed record ScanOptions
{
    /// <summary>
    /// The page to begin with; null: the oldest kept. It begins a page, outside of spanning records (a checkpoint's PageLsn does).
    /// </summary>
    public Lsn? From { get; init; }

    /// <summary>
    /// Hash of the page before <see cref="From"/>, when something vouches for it; null: the first page's own statement is taken.
    /// </summary>
    public ulong? PreviousHash { get; init; }

    /// <summary>
    /// Notes damage and goes on at the next valid page, so that all that can still be read is read; the verdict stays the first halt.
    /// </summary>
    public bool GoesOn { get; init; }

    /// <summary>
    /// Ends behind the segment that is the last when reading begins: of a log that grows faster than it is read, there is else no end.
    /// </summary>
    public bool EndsWithHead { get; init; }
}
