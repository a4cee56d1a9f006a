using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>
/// A simulated file without its names: blocks, length, allocation, lock. <paramref name="id"/> counts from 1 in order of creation.
/// Invariant: <see cref="_lengths"/> is never empty; its first entry is the length on the device, each further one an un-flushed change
/// with a higher number, the last the length that programs see.
/// </summary>
internal sealed class Inode(int id)
{
    /// <summary>Un-flushed length changes remembered; beyond it the oldest cannot be what a power loss leaves.</summary>
    private const int LengthChangesMax = 256;

    private readonly Dictionary<long, Block> _blocks = [];
    private readonly List<(long Length, long Change)> _lengths = [(0, 0)];
    private long _changes;
    private long _allocated;
    private int _outside; // blocks behind _allocated

    public int Id => id;

    public long Length => _lengths[^1].Length;

    /// <summary>Open handles; a file without names lives as long as there are any.</summary>
    public int Handles { get; set; }

    /// <summary>The openings that hold a lock: one exclusive or any number of shared ones.</summary>
    private readonly List<(SimulatedFile Holder, FileLockKind Kind)> _locks = [];

    /// <summary>Blocks that the device cannot read any more; a block that is written anew can be read again.</summary>
    private readonly HashSet<long> _unreadable = [];

    /// <summary>Blocks with content that the file system takes for holes.</summary>
    private readonly HashSet<long> _falseHoles = [];

    /// <summary>Failed write-backs so far: each opening is told of the last one once (fsync(2)).</summary>
    private int _writeBackErrors;

    /// <summary>An opening made now is told of those behind it: one that nobody was told of yet is told to it, too.</summary>
    public int WriteBackErrorsTold { get; private set; }

    /// <summary>Bytes of the device that the file takes.</summary>
    public long BytesTaken => RoundUp(_allocated) + (long)_outside * Block.Bytes;

    /// <summary>The bytes of the device that a write or an allocation there takes beyond <see cref="BytesTaken"/>.</summary>
    public long BytesMissing(long offset, long bytes)
    {
        if (bytes <= 0) return 0;
        long first = Math.Max(offset / Block.Bytes, RoundUp(_allocated) / Block.Bytes), end = RoundUp(offset + bytes) / Block.Bytes;
        if (end <= first) return 0;
        long present = 0;
        if (end - first > _blocks.Count) present = _blocks.Keys.Count(number => number >= first && number < end);
        else
            for (long number = first; number < end; number++)
                if (_blocks.ContainsKey(number)) present++;
        return (end - first - present) * Block.Bytes;
    }

    private static long RoundUp(long bytes) => (bytes + Block.Bytes - 1) / Block.Bytes * Block.Bytes;

    public bool TryLock(SimulatedFile file, FileLockKind kind)
    {
        if (_locks.Exists(held => held.Holder != file && (kind == FileLockKind.Exclusive || held.Kind == FileLockKind.Exclusive)))
            return false;
        Unlock(file);
        _locks.Add((file, kind));
        return true;
    }

    public void Unlock(SimulatedFile file) => _locks.RemoveAll(held => held.Holder == file);

    /// <summary>Makes the blocks in which these bytes stand unreadable, until they are written anew.</summary>
    public void MakeUnreadable(long offset, long bytes) => AddBlocks(_unreadable, offset, bytes);

    /// <summary>Makes the file system take the blocks in which these bytes stand for holes, although they can be read.</summary>
    public void TakeForHole(long offset, long bytes) => AddBlocks(_falseHoles, offset, bytes);

    public bool IsUnreadable(long offset, long bytes)
    {
        if (_unreadable.Count == 0 || bytes == 0) return false;
        long first = offset / Block.Bytes, last = (Math.Min(offset + bytes, Length) - 1) / Block.Bytes;
        return _unreadable.Any(number => number >= first && number <= last);
    }

    /// <summary>
    /// The kernel tries by itself to write back what is not flushed, and fails: as <see cref="FailFlush"/>, but whoever flushes next
    /// through each opening is told.
    /// </summary>
    public void FailWriteBack(SimulatedRandom random)
    {
        FailFlush(random);
        _writeBackErrors++;
    }

    /// <summary>Returns true where an opening has not been told of the last failed write-back; it has been from here on.</summary>
    public bool TryTellWriteBackError(ref int told)
    {
        if (told == _writeBackErrors) return false;
        told = WriteBackErrorsTold = _writeBackErrors;
        return true;
    }

    private static void AddBlocks(HashSet<long> to, long offset, long bytes)
    {
        for (long number = offset / Block.Bytes; number * Block.Bytes < offset + bytes; number++) to.Add(number);
    }

    public int Read(Span<byte> buffer, long offset)
    {
        int count = (int)Math.Clamp(Length - offset, 0, buffer.Length);
        for (int done = 0; done < count;)
        {
            (long number, int at, int part) = PartOf(offset + done, count - done);
            Span<byte> target = buffer.Slice(done, part);
            if (_blocks.TryGetValue(number, out Block? block)) block.Current.AsSpan(at, part).CopyTo(target);
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
            if (_unreadable.Count > 0) _unreadable.Remove(number);
            done += part;
        }

        if (offset + bytes.Length > Length) ChangeLength(offset + bytes.Length);
    }

    /// <summary>The first blocks at or behind the offset that were ever written, one behind the other; else nothing, at the end.</summary>
    public FileStretch NextData(long offset)
    {
        long first = long.MaxValue / Block.Bytes;
        foreach (long number in _blocks.Keys)
            if (number >= offset / Block.Bytes && number < first && !_falseHoles.Contains(number)) first = number;
        long behind = first;
        while (_blocks.ContainsKey(behind) && !_falseHoles.Contains(behind)) behind++;
        return new FileStretch(Math.Min(Length, Math.Max(offset, first * Block.Bytes)), Math.Min(Length, behind * Block.Bytes));
    }

    /// <summary>Sets space aside up to there: whoever asks has written, or set aside, what lies before.</summary>
    public void Allocate(long end)
    {
        _allocated = Math.Max(_allocated, end);
        CountOutside();
    }

    public void SetLength(long length)
    {
        if (length == Length) return;
        bool cut = length < Length;
        ChangeLength(length);
        if (!cut) return;
        _allocated = Math.Min(_allocated, length);
        foreach ((long number, Block block) in InOrder())
        {
            long keep = Math.Clamp(length - number * Block.Bytes, 0, Block.Bytes);
            if (keep < Block.Bytes) block.Cut((int)keep, _changes);
        }
        CountOutside();
    }

    public void Flush()
    {
        foreach (Block block in _blocks.Values) block.Flush();
        _lengths.RemoveRange(0, _lengths.Count - 1);
    }

    /// <summary>
    /// A flush that reports an error: any part of it may have happened, and the rest is forgotten by the cache (see
    /// <see cref="Block.FailFlush"/>).
    /// </summary>
    public void FailFlush(SimulatedRandom random)
    {
        bool lengthKept = random.Chance(50);
        foreach ((_, Block block) in InOrder()) block.FailFlush(random, lengthKept);
        if (lengthKept) _lengths.RemoveRange(0, _lengths.Count - 1);
    }

    public void DropCache()
    {
        foreach (Block block in _blocks.Values) block.DropCache();
    }

    public void LosePower(SimulatedRandom random, int keepPercent, bool tornSectors)
    {
        int kept = _lengths.Count == 1 || !random.Chance(keepPercent) ? 0
            : random.Chance(75) ? _lengths.Count - 1 : random.Next(1, _lengths.Count);
        foreach ((_, Block block) in InOrder()) block.LosePower(random, _lengths[kept].Change, keepPercent, tornSectors);
        Keep(kept);
    }

    public void LosePower(PowerLossChoices choices)
    {
        int kept = choices.Choose(_lengths.Count);
        foreach ((long number, Block block) in InOrder())
            if (number * Block.Bytes < _lengths[kept].Length) block.LosePower(choices, _lengths[kept].Change);
        Keep(kept);
    }

    private void Keep(int kept)
    {
        (long Length, long Change) survivor = _lengths[kept];
        _lengths.Clear();
        _lengths.Add(survivor);
        ClearBehind(survivor.Length);
        Handles = 0;
        _locks.Clear();
    }

    /// <summary>
    /// Hands the block's content to <paramref name="change"/>, past the seam; a block that was never written becomes one.
    /// </summary>
    public void Damage(long block, Action<byte[]> change, bool alsoCached) => BlockAt(block).Damage(change, alsoCached);

    public byte[] BlockContent(long number) => _blocks.TryGetValue(number, out Block? block) ? block.Current : new byte[Block.Bytes];

    public Inode Copy()
    {
        var copy = new Inode(id) { _allocated = _allocated, _changes = _changes, _outside = _outside };
        copy._lengths.Clear();
        copy._lengths.AddRange(_lengths);
        foreach ((long number, Block block) in _blocks) copy._blocks.Add(number, block.Copy());
        copy._unreadable.UnionWith(_unreadable);
        copy._falseHoles.UnionWith(_falseHoles);
        copy._writeBackErrors = copy.WriteBackErrorsTold = _writeBackErrors;
        return copy;
    }

    private static (long Block, int At, int Part) PartOf(long position, int left)
    {
        int at = (int)(position % Block.Bytes);
        return (position / Block.Bytes, at, Math.Min(left, Block.Bytes - at));
    }

    private void ChangeLength(long length)
    {
        if (_lengths.Count > LengthChangesMax) _lengths.RemoveAt(1);
        _lengths.Add((length, ++_changes));
    }

    private Block BlockAt(long number)
    {
        if (_blocks.TryGetValue(number, out Block? block)) return block;
        _blocks.Add(number, block = new Block());
        if (number * Block.Bytes >= RoundUp(_allocated)) _outside++;
        return block;
    }

    /// <summary>Blocks behind the end of a file that was cut take nothing, though a power loss may bring them back.</summary>
    private void CountOutside() =>
        _outside = _blocks.Keys.Count(number => number * Block.Bytes >= RoundUp(_allocated) && number * Block.Bytes < Length);

    /// <summary>Bytes behind the end are zero when the file grows again, whatever a lost write left there.</summary>
    private void ClearBehind(long length)
    {
        foreach ((long number, Block block) in InOrder())
        {
            long keep = length - number * Block.Bytes;
            if (keep <= 0) _blocks.Remove(number);
            else if (keep < Block.Bytes) block.Damage(content => content.AsSpan((int)keep).Clear(), alsoCached: true);
        }
        CountOutside();
    }

    /// <summary>Draws must come in the same order in each run, so never in that of a dictionary.</summary>
    private List<KeyValuePair<long, Block>> InOrder() => [.. _blocks.OrderBy(static pair => pair.Key)];
}
