namespace Ambrosia.Log;

/// <summary>
/// The memory through which a checkpoint passes on its way to the device and, verified, back from it: a block, and a chunk's content. Who
/// writes checkpoints keeps it from one to the next, so that none leaves megabytes of garbage behind. One checkpoint at a time, and at each
/// moment either its writing or its verification.
/// </summary>
public sealed class CheckpointMemory
{
    /// <summary>Written at once, and read at once past the cache: a multiple of 4,096.</summary>
    internal const int BlockBytes = 1 << 20;

    private byte[] _chunk = [];

    /// <summary>What of it is never used takes no memory.</summary>
    internal AlignedBlock Block => field ??= new AlignedBlock(BlockBytes, zeroed: false);

    /// <summary>At least so many bytes, holding anything.</summary>
    internal byte[] ChunkOf(int bytes) => _chunk.Length >= bytes ? _chunk : _chunk = GC.AllocateUninitializedArray<byte>(bytes);
}
