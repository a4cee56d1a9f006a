using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>Between two positions of the log an app has made other calls than the log's.</summary>
/// <param name="From">Up to here all were the same.</param>
/// <param name="To">Here they were not.</param>
/// <param name="Counted">What the log says of the channels at <paramref name="To"/>; empty: nothing.</param>
internal sealed record DivergedStretch(Lsn From, Lsn To, IReadOnlyList<DigestEntry> Counted);
