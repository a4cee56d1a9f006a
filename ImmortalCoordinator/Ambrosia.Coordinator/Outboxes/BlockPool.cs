using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Memory into which the app's stream is received and in which its runs stay until they are trimmed: bytes are copied by nobody. It owns at
/// most <see cref="KeptMax"/> blocks that nobody uses; last in, first out, so that a block in use stays in the cache. Any thread.
/// </summary>
internal sealed class BlockPool
{
    public const int BlockBytes = 1 << 20;

    /// <summary>
    /// The size of a block with room for a whole chunk of an image in its frame (P5.7), or for a message of 1 MiB in its own: such blocks
    /// come one after another by the thousand.
    /// </summary>
    internal const int LargeBytes = BlockBytes + (64 << 10);

    /// <summary>
    /// Blocks kept for the next use: enough for the swing between two trims of a stream at full rate. What a burst took beyond goes back.
    /// </summary>
    internal const int KeptMax = 64;

    private readonly RankedLock _gate = new(LockRank.BlockPool);
    private readonly Stack<Block> _free = new(), _freeLarge = new();

    /// <summary>Blocks handed out and not yet released by everyone; what the memory bound of outboxes counts.</summary>
    private int _outstanding;

    public int Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>The number of blocks that wait to be used again.</summary>
    internal int Kept { get { using (_gate.Enter()) return _free.Count + _freeLarge.Count; } }

    /// <summary>A block with one reference. A much larger one than usual is made for one big frame and not kept.</summary>
    public Block Take(int bytes = BlockBytes)
    {
        Interlocked.Increment(ref _outstanding);
        if (bytes > LargeBytes) return new Block(this, GC.AllocateUninitializedArray<byte>(bytes));
        bool isLarge = bytes > BlockBytes;
        using (_gate.Enter())
        {
            if ((isLarge ? _freeLarge : _free).TryPop(out Block? block)) { block.Revive(); return block; }
        }
        return new Block(this, GC.AllocateUninitializedArray<byte>(isLarge ? LargeBytes : BlockBytes, pinned: true));
    }

    /// <summary>
    /// A block below the usual size, neither counted nor kept: until it is known who speaks, a connection gets what its hello may take.
    /// </summary>
    public Block TakeSmall(int bytes) => new(this, new byte[bytes]);

    private void Return(Block block)
    {
        if (block.Bytes.Length < BlockBytes) return;
        Interlocked.Decrement(ref _outstanding);
        using (_gate.Enter())
        {
            if (block.Bytes.Length == BlockBytes) Keep(block, _free, _freeLarge);
            else if (block.Bytes.Length == LargeBytes) Keep(block, _freeLarge, _free);
        }
    }

    /// <summary>What is used now stays, if need be at the cost of the other size.</summary>
    private void Keep(Block block, Stack<Block> with, Stack<Block> others)
    {
        if (_free.Count + _freeLarge.Count < KeptMax || others.TryPop(out _)) with.Push(block);
    }

    internal sealed class Block(BlockPool pool, byte[] bytes)
    {
        private int _references = 1;

        public readonly byte[] Bytes = bytes;

        public void AddReference() => Interlocked.Increment(ref _references);

        public void Release()
        {
            int left = Interlocked.Decrement(ref _references);
            if (left == 0) pool.Return(this);
            else if (left < 0) throw new InvalidOperationException("a block was released more often than it was taken");
        }

        internal void Revive() => _references = 1;
    }
}

/// <summary>
/// Bounds how much memory the outboxes hold. It counts the blocks that are out, since a block lives as long as one run in it. Any thread.
/// </summary>
internal sealed class MemoryBudget(BlockPool pool, int blocksMax)
{
    public bool IsFull => pool.Outstanding > blocksMax;
}
