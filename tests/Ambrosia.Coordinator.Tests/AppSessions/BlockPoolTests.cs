using Ambrosia.Coordinator.Outboxes;

namespace Ambrosia.Coordinator.Tests;

public sealed class BlockPoolTests
{
    private readonly BlockPool _pool = new();

    /// <summary>What a burst took beyond the usual is given back to the process (I20).</summary>
    [Fact]
    public void Release_AfterABurst_KeepsABoundedNumber()
    {
        BlockPool.Block[] burst = [.. Enumerable.Range(0, 3 * BlockPool.KeptMax).Select(_ => _pool.Take())];
        Assert.Equal((burst.Length, 0), (_pool.Outstanding, _pool.Kept));
        foreach (BlockPool.Block block in burst) block.Release();
        Assert.Equal((0, BlockPool.KeptMax), (_pool.Outstanding, _pool.Kept));
    }

    /// <summary>The size that is used stays; many of the other do not stand in its way.</summary>
    [Fact]
    public void Release_AfterABurstOfTheOtherSize_KeepsWhatIsUsed()
    {
        int[] sizes = [BlockPool.BlockBytes, BlockPool.LargeBytes];
        foreach (int size in (int[])[.. sizes, .. sizes])
        {
            BlockPool.Block[] burst = [.. Enumerable.Range(0, BlockPool.KeptMax).Select(_ => _pool.Take(size))];
            foreach (BlockPool.Block block in burst) block.Release();
            Assert.Equal((0, BlockPool.KeptMax), (_pool.Outstanding, _pool.Kept));
            Assert.Contains(_pool.Take(size), burst);
            burst[^1].Release();
        }
    }

    [Fact]
    public void Take_AfterARelease_GivesTheSameBlock()
    {
        BlockPool.Block block = _pool.Take();
        block.AddReference();
        block.Release();
        Assert.Equal((1, 0), (_pool.Outstanding, _pool.Kept));
        block.Release();
        Assert.Same(block, _pool.Take());
        Assert.Throws<InvalidOperationException>(() =>
        {
            block.Release();
            block.Release();
        });
    }
}
