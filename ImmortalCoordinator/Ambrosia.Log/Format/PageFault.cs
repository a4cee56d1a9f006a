namespace Ambrosia.Log;

/// <summary>Why bytes are no valid page (log-format L4.2).</summary>
/// <param name="IsBlank">There is nothing at all: zeros, or the end of the file.</param>
public sealed record PageFault(string Expected, string Found, bool IsBlank = false);
