using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>Why bytes are no valid page (log-format L4.2).</summary>
/// <param name="IsBlank">There is nothing at all: zeros, or the end of the file.</param>
/// <param name="IsStale">A page of the earlier life of a file that was recycled (log-format L3.5).</param>
/// <param name="IsIntact">The page is as it was written, at its place: its writer broke a rule, or is a newer one. No crash leaves that, so
/// it is never torn.</param>
/// <param name="Record">The record of an intact page that breaks the rule; null: it is about the page.</param>
public sealed record PageFault(
    string Expected, string Found, bool IsBlank = false, bool IsStale = false, bool IsIntact = false, Lsn? Record = null)
{
    /// <summary>What stands behind the last page of a log that nothing happened to.</summary>
    public bool IsNothing => IsBlank || IsStale;

    /// <summary>The same fault of a page whose checksums hold.</summary>
    internal PageFault OfIntactPage(Lsn? record = null) => this with { IsIntact = true, Record = record };
}
