using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>Log that cannot be read.</summary>
/// <param name="From">The first position that is lost.</param>
/// <param name="To">Reading goes on here: at the next valid page, at a seal, or not at all when it is the last of
/// <see cref="LogScan.Lost"/>.</param>
/// <param name="Why">What was expected there and what was found.</param>
public sealed record LostStretch(Lsn From, Lsn To, LogDamage Why)
{
    /// <summary>Of log: pages, their headers and padding.</summary>
    public long Bytes => To - From;
}
