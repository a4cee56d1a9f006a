namespace Ambrosia.Coordinator;

/// <summary>How much an app's outputs are, for <see cref="CheckpointDuty"/>.</summary>
/// <param name="Total">Bytes that this process was given by apps, what a replay made again among them; never less than before.</param>
/// <param name="Spilled">Bytes that are kept on disk for peers, all of which a checkpoint would hold.</param>
internal readonly record struct EmittedBytes(long Total, long Spilled);
