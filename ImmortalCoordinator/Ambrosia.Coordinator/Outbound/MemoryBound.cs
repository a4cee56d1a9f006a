namespace Ambrosia.Coordinator;

/// <summary>
/// How much memory the outboxes may hold: counted in the blocks that are out, since a block lives as long as one run in it.
/// </summary>
internal sealed class MemoryBound(BlockPool pool, int blocksMax)
{
    public bool IsFull => pool.Outstanding > blocksMax;
}
