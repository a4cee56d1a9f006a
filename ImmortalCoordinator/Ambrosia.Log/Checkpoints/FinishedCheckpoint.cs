namespace Ambrosia.Log;

/// <summary>A checkpoint that is on disk and verified, without its name yet.</summary>
/// <param name="Digest">CRC-64/NVME of the contents of sections 2 to 4.</param>
public sealed record FinishedCheckpoint(CheckpointFileName Name, ulong Digest, long Bytes);
