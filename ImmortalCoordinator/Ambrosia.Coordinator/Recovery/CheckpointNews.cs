using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>How checkpoints are getting on.</summary>
/// <param name="Last">The newest that is published or was found at the start; null: none.</param>
/// <param name="Failures">Marks that came to nothing since the start.</param>
/// <param name="Why">What became of the last of these.</param>
internal readonly record struct CheckpointNews(CheckpointFileName? Last, bool IsUnderWay, long Failures, string? Why);
