using Ambrosia.Log.Files;

namespace Ambrosia.Log.Checkpoints;

/// <summary>
/// Owns the memory through which a checkpoint passes on its way to the device and, when it is verified, back: a block, and the content of
/// a chunk. Whoever writes checkpoints keeps it from one to the next, so that none leaves megabytes of garbage behind. It serves one
/// checkpoint at a time, and at each moment either its writing or its verification.
/// </summary>
public sealed class CheckpointMemory
{
    /// <summary>So many bytes are written at once, and read at once past the cache; a multiple of 4,096.</summary>
    internal const int BlockBytes = 1 << 20;

    private byte[] _chunk = [];

    /// <summary>The block that bytes are gathered in. What is never used of it takes no memory.</summary>
    internal AlignedBlock Block => field ??= new AlignedBlock(BlockBytes, zeroed: false);

    /// <summary>Returns an array of at least so many bytes, with any content.</summary>
    internal byte[] ChunkOf(int bytes) => _chunk.Length >= bytes ? _chunk : _chunk = GC.AllocateUninitializedArray<byte>(bytes);
}
