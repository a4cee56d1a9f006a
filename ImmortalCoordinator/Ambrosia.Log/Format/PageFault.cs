namespace Ambrosia.Log;

/// <summary>Why bytes are no valid page (log-format L4.2).</summary>
/// <param name="IsBlank">There is nothing at all: zeros, or the end of the file.</param>
/// <param name="IsStale">A page of the earlier life of a file that was recycled (log-format L3.5).</param>
public sealed record PageFault(string Expected, string Found, bool IsBlank = false, bool IsStale = false)
{
    /// <summary>What stands behind the last page of a log that nothing happened to.</summary>
    public bool IsNothing => IsBlank || IsStale;
}
