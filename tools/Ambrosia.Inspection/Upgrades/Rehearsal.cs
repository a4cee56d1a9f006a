using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Upgrades;

/// <summary>Says what came of the conversion of a copy of a state.</summary>
/// <param name="Position">Everything below was executed in the state.</param>
/// <param name="ImageBytes">Of the new state's image; 0 where there is none.</param>
/// <param name="Hash">CRC-64/NVME of that image.</param>
/// <param name="Took">
/// From the question to the answer: an upgrade's callers wait about so long, and as long as a fail-over takes.
/// </param>
/// <param name="Why">Why it cannot be; empty: it can.</param>
internal sealed record Rehearsal(Lsn Position, ulong ImageBytes, ulong Hash, TimeSpan Took, string Why);
