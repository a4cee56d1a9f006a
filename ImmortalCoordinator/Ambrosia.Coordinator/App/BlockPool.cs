namespace Ambrosia.Coordinator;

/// <summary>
/// Memory into which the app's stream is received and in which its runs stay until they are trimmed: bytes are copied by nobody.
/// Owns at most <see cref="KeptMax"/> blocks that nobody uses; last in, first out, so that a block in use stays in the cache. Any thread.
/// </summary>
internal sealed class BlockPool
{
    public const int BlockBytes = 1 << 20;

    /// <summary>
    /// Room for a whole chunk of an image in its frame (P5.7), or for a message of 1 MiB in its own: such blocks come one after
    /// another by the thousand.
    /// </summary>
    internal const int LargeBytes = BlockBytes + (64 << 10);

    /// <summary>
    /// Blocks kept for the next use: enough for the swing between two trims of a stream at full rate. What a burst took beyond goes back.
    /// </summary>
    internal const int KeptMax = 64;

    private readonly Lock gate = new();
    private readonly Stack<Block> free = new(), freeLarge = new();

    /// <summary>Blocks handed out and not yet released by everyone; what the memory bound of outboxes counts.</summary>
    private int outstanding;

    public int Outstanding => Volatile.Read(ref outstanding);

    /// <summary>Blocks that wait to be used again.</summary>
    internal int Kept { get { lock (gate) return free.Count + freeLarge.Count; } }

    /// <summary>A block with one reference. A much larger one than usual is made for one big frame and not kept.</summary>
    public Block Take(int bytes = BlockBytes)
    {
        Interlocked.Increment(ref outstanding);
        if (bytes > LargeBytes) return new Block(this, GC.AllocateUninitializedArray<byte>(bytes));
        bool isLarge = bytes > BlockBytes;
        lock (gate)
        {
            if ((isLarge ? freeLarge : free).TryPop(out Block? block)) { block.Revive(); return block; }
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
        Interlocked.Decrement(ref outstanding);
        lock (gate)
        {
            if (block.Bytes.Length == BlockBytes) Keep(block, free, freeLarge);
            else if (block.Bytes.Length == LargeBytes) Keep(block, freeLarge, free);
        }
    }

    /// <summary>What is used now stays, if need be at the cost of the other size.</summary>
    private void Keep(Block block, Stack<Block> with, Stack<Block> others)
    {
        if (free.Count + freeLarge.Count < KeptMax || others.TryPop(out _)) with.Push(block);
    }

    internal sealed class Block(BlockPool pool, byte[] bytes)
    {
        private int references = 1;

        public readonly byte[] Bytes = bytes;

        public void AddReference() => Interlocked.Increment(ref references);

        public void Release()
        {
            int left = Interlocked.Decrement(ref references);
            if (left == 0) pool.Return(this);
            else if (left < 0) throw new InvalidOperationException("a block was released more often than it was taken");
        }

        internal void Revive() => references = 1;
    }
}
