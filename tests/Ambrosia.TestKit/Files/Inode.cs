using Ambrosia.Log;

namespace Ambrosia.TestKit;

/// <summary>
/// A simulated file without its names: blocks, length, allocation, lock. <paramref name="id"/> counts from 1 in order of creation.
/// Invariant: <see cref="lengths"/> is never empty; its first entry is the length on the device, each further one an un-flushed change with
/// a higher number, the last the length that programs see.
/// </summary>
internal sealed class Inode(int id)
{
    /// <summary>Un-flushed length changes remembered; beyond it the oldest cannot be what a power loss leaves.</summary>
    private const int LengthChangesMax = 256;

    private readonly Dictionary<long, Block> blocks = [];
    private readonly List<(long Length, long Change)> lengths = [(0, 0)];
    private long changes;
    private long allocated;

    public int Id => id;

    public long Length => lengths[^1].Length;

    /// <summary>Open handles; a file without names lives as long as there are any.</summary>
    public int Handles { get; set; }

    /// <summary>The openings that hold a lock: one exclusive or any number of shared ones.</summary>
    private readonly List<(SimulatedFile Holder, FileLockKind Kind)> locks = [];

    /// <summary>Bytes of the device that the file takes.</summary>
    public long BytesTaken => RoundUp(Math.Max(Length, allocated));

    /// <summary>What <see cref="BytesTaken"/> would be for another length or allocation.</summary>
    public static long RoundUp(long bytes) => (bytes + Block.Bytes - 1) / Block.Bytes * Block.Bytes;

    public bool TryLock(SimulatedFile file, FileLockKind kind)
    {
        if (locks.Exists(held => held.Holder != file && (kind == FileLockKind.Exclusive || held.Kind == FileLockKind.Exclusive)))
            return false;
        Unlock(file);
        locks.Add((file, kind));
        return true;
    }

    public void Unlock(SimulatedFile file) => locks.RemoveAll(held => held.Holder == file);

    public int Read(Span<byte> buffer, long offset)
    {
        int count = (int)Math.Clamp(Length - offset, 0, buffer.Length);
        for (int done = 0; done < count;)
        {
            (long number, int at, int part) = PartOf(offset + done, count - done);
            Span<byte> target = buffer.Slice(done, part);
            if (blocks.TryGetValue(number, out Block? block)) block.Current.AsSpan(at, part).CopyTo(target);
            else target.Clear();
            done += part;
        }

        return count;
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset)
    {
        if (bytes.IsEmpty) return;
        for (int done = 0; done < bytes.Length;)
        {
            (long number, int at, int part) = PartOf(offset + done, bytes.Length - done);
            BlockAt(number).Put(at, bytes.Slice(done, part));
            done += part;
        }

        if (offset + bytes.Length > Length) ChangeLength(offset + bytes.Length);
    }

    public void Allocate(long length) => allocated = Math.Max(allocated, length);

    public void SetLength(long length)
    {
        if (length == Length) return;
        bool cut = length < Length;
        ChangeLength(length);
        if (!cut) return;
        allocated = Math.Min(allocated, length);
        foreach ((long number, Block block) in InOrder())
        {
            long keep = Math.Clamp(length - number * Block.Bytes, 0, Block.Bytes);
            if (keep < Block.Bytes) block.Cut((int)keep, changes);
        }
    }

    public void Flush()
    {
        foreach (Block block in blocks.Values) block.Flush();
        lengths.RemoveRange(0, lengths.Count - 1);
    }

    /// <summary>
    /// A flush that reports an error: any part of it may have happened, and the rest is forgotten by the cache (see
    /// <see cref="Block.FailFlush"/>).
    /// </summary>
    public void FailFlush(SimulatedRandom random)
    {
        bool lengthKept = random.Chance(50);
        foreach ((_, Block block) in InOrder()) block.FailFlush(random, lengthKept);
        if (lengthKept) lengths.RemoveRange(0, lengths.Count - 1);
    }

    public void DropCache()
    {
        foreach (Block block in blocks.Values) block.DropCache();
    }

    public void LosePower(SimulatedRandom random, int keepPercent, bool tornSectors)
    {
        int kept = lengths.Count == 1 || !random.Chance(keepPercent) ? 0
            : random.Chance(75) ? lengths.Count - 1 : random.Next(1, lengths.Count);
        foreach ((_, Block block) in InOrder()) block.LosePower(random, lengths[kept].Change, keepPercent, tornSectors);
        Keep(kept);
    }

    public void LosePower(PowerLossChoices choices)
    {
        int kept = choices.Choose(lengths.Count);
        foreach ((long number, Block block) in InOrder())
            if (number * Block.Bytes < lengths[kept].Length) block.LosePower(choices, lengths[kept].Change);
        Keep(kept);
    }

    private void Keep(int kept)
    {
        (long Length, long Change) survivor = lengths[kept];
        lengths.Clear();
        lengths.Add(survivor);
        ClearBehind(survivor.Length);
        Handles = 0;
        locks.Clear();
    }

    /// <summary>
    /// Hands the block's content to <paramref name="change"/>, past the seam; a block that was never written becomes one.
    /// </summary>
    public void Damage(long block, Action<byte[]> change, bool alsoCached) => BlockAt(block).Damage(change, alsoCached);

    public byte[] BlockContent(long number) => blocks.TryGetValue(number, out Block? block) ? block.Current : new byte[Block.Bytes];

    public Inode Copy()
    {
        var copy = new Inode(id) { allocated = allocated, changes = changes };
        copy.lengths.Clear();
        copy.lengths.AddRange(lengths);
        foreach ((long number, Block block) in blocks) copy.blocks.Add(number, block.Copy());
        return copy;
    }

    private static (long Block, int At, int Part) PartOf(long position, int left)
    {
        int at = (int)(position % Block.Bytes);
        return (position / Block.Bytes, at, Math.Min(left, Block.Bytes - at));
    }

    private void ChangeLength(long length)
    {
        if (lengths.Count > LengthChangesMax) lengths.RemoveAt(1);
        lengths.Add((length, ++changes));
    }

    private Block BlockAt(long number)
    {
        if (!blocks.TryGetValue(number, out Block? block)) blocks.Add(number, block = new Block());
        return block;
    }

    /// <summary>Bytes behind the end are zero when the file grows again, whatever a lost write left there.</summary>
    private void ClearBehind(long length)
    {
        foreach ((long number, Block block) in InOrder())
        {
            long keep = length - number * Block.Bytes;
            if (keep <= 0) blocks.Remove(number);
            else if (keep < Block.Bytes) block.Damage(content => content.AsSpan((int)keep).Clear(), alsoCached: true);
        }
    }

    /// <summary>Draws must come in the same order in each run, so never in that of a dictionary.</summary>
    private List<KeyValuePair<long, Block>> InOrder() => [.. blocks.OrderBy(static pair => pair.Key)];
}
