using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>Describes a gap in the history: what stands before it cannot be reached any more.</summary>
/// <param name="Missing">The name of the newest segment that is not there.</param>
/// <param name="Before">Names of the segments that stand before the gap.</param>
/// <param name="From">The log can be read from here on.</param>
public sealed record LogGap(string Missing, IReadOnlyList<string> Before, Lsn From);
