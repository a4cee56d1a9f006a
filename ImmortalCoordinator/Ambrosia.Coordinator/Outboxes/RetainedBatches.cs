using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// The runs of one outbox where they are kept, oldest first, in blocks of memory or in the scratch file, and how far the current connection
/// has taken them. It owns the entries and their references. It knows of numbers what the entries say, and not which of them is in force.
/// Guarded by the outbox's lock, but for <see cref="Release"/> and <see cref="CopyFrame"/>, whose caller holds the entry.
/// </summary>
internal sealed class RetainedBatches(InstanceId destination, ScratchFile scratch, MemoryBudget memory)
{
    private readonly EntryRing _entries = new();
    private readonly SpillTail _spill = new();

    /// <summary>The first entry that has not been handed to the current connection.</summary>
    private long _cursor;

    /// <summary>The bytes of all entries, wherever they are.</summary>
    public long Bytes { get; private set; }

    public bool HasUnsent => _cursor < _entries.End;

    public bool IsMemoryFull => memory.IsFull;

    /// <summary>
    /// Whether a run of so many bytes can be kept on disk now; what cannot stays in memory when it comes all the same. Any thread.
    /// </summary>
    public bool HasDiskFor(int runBytes) => scratch.HasRoomFor(_spill, FrameHeader.Bytes + runBytes);

    /// <summary>Keeps the run whose frame stands at <paramref name="frameAt"/> of the block, under this header.</summary>
    public void Push(BlockPool.Block block, int frameAt, in RunHeader header, int runBytes, ChannelPosition end)
    {
        header.Write(block.Bytes.AsSpan(frameAt + FrameHeader.Bytes));
        int frameBytes = FrameHeader.Bytes + runBytes;
        Bytes += frameBytes;
        Span<byte> frame = block.Bytes.AsSpan(frameAt, frameBytes);
        if (memory.IsFull && scratch.TryPut(_spill, frame, out long at))
        {
            Crash.Hit("out.spill");
            _entries.Push(new OutboxEntry(null, at, frameBytes, header.Kind, header.Count, end, Crc32C.Of(frame)));
            return;
        }
        block.AddReference();
        _entries.Push(new OutboxEntry(block, frameAt, frameBytes, header.Kind, header.Count, end));
    }

    /// <summary>
    /// The first <paramref name="calls"/> calls and <paramref name="impulses"/> impulses are there: sending goes on behind them. Returns
    /// how many calls of the entry at the cursor are to be skipped.
    /// </summary>
    public uint Resume(ulong calls, ulong impulses)
    {
        _cursor = _entries.Start;
        while (_cursor < _entries.End && _entries[_cursor].IsWithin(calls, impulses)) _cursor++;
        if (_cursor == _entries.End || _entries[_cursor].IsImpulse) return 0;
        ulong first = _entries[_cursor].First;
        return first <= calls ? (uint)(calls - first + 1) : 0;
    }

    /// <summary>The next entry to send; it is held until <see cref="Release"/>.</summary>
    public bool TryNext(out OutboxEntry entry)
    {
        if (_cursor < _entries.Start) _cursor = _entries.Start;
        if (_cursor >= _entries.End) { entry = default; return false; }
        entry = _entries[_cursor++];
        Hold(entry);
        return true;
    }

    /// <summary>Drops the oldest that are wholly among so many calls and impulses.</summary>
    public void Release(ulong calls, ulong impulses)
    {
        while (_entries.Start < _entries.End && _entries[_entries.Start].IsWithin(calls, impulses)) Drop();
    }

    public void DropAll()
    {
        while (_entries.Start < _entries.End) Drop();
    }

    /// <summary>Drops all; the next connection begins with what comes then.</summary>
    public void Clear()
    {
        DropAll();
        _cursor = _entries.Start;
    }

    private void Drop()
    {
        OutboxEntry entry = _entries.Pop();
        Bytes -= entry.FrameBytes;
        Release(entry);
    }

    private void Hold(in OutboxEntry entry)
    {
        if (entry.Block is { } block) block.AddReference();
        else scratch.Hold(entry.At, entry.FrameBytes);
    }

    /// <summary>Gives up an entry that was handed out.</summary>
    public void Release(in OutboxEntry entry)
    {
        if (entry.Block is { } block) block.Release();
        else scratch.Drop(entry.At, entry.FrameBytes);
    }

    /// <summary>Copies an entry's frame, wherever it is.</summary>
    /// <exception cref="IOException">The disk does not give back what was put there.</exception>
    public void CopyFrame(in OutboxEntry entry, Span<byte> to)
    {
        if (entry.Block is { } block) block.Bytes.AsSpan((int)entry.At, entry.FrameBytes).CopyTo(to);
        else scratch.Get(entry.At, to, entry.Crc);
    }

    /// <summary>The channel after <paramref name="number"/> calls, which the entries from <paramref name="oldest"/> on reach.</summary>
    public ChannelPosition PositionAt(ulong number, ChannelPosition oldest)
    {
        ChannelPosition at = oldest;
        for (long i = _entries.Start; i < _entries.End && at.Number < number; i++)
        {
            OutboxEntry entry = _entries[i];
            if (entry.IsImpulse || entry.End.Number <= at.Number) continue;
            at = entry.End.Number <= number ? entry.End : WithinEntry(entry, at, number);
        }
        if (at.Number != number) throw new InvalidOperationException($"outbox to {destination} has no position {number}, only {at.Number}");
        return at;
    }

    /// <summary>
    /// The position inside an entry; <paramref name="before"/> is at its beginning or, in the oldest, somewhere inside it.
    /// </summary>
    private ChannelPosition WithinEntry(in OutboxEntry entry, ChannelPosition before, ulong number)
    {
        byte[] copy = new byte[entry.FrameBytes];
        CopyFrame(entry, copy);
        RunView run = RunView.Read(copy.AsSpan(FrameHeader.Bytes));
        int skip = MessageScanner.Skip(run.Messages, (uint)(before.Number + 1 - entry.First));
        ReadOnlySpan<byte> rest = run.Messages[skip..];
        uint count = (uint)(number - before.Number);
        return before.After(entry.Kind, rest[..MessageScanner.Skip(rest, count)], count);
    }

    /// <summary>Holds every entry with calls above <paramref name="after"/> and up to <paramref name="last"/>, oldest first.</summary>
    public void HoldCalls(ulong after, ulong last, List<OutboxEntry> into)
    {
        for (long i = _entries.Start; i < _entries.End; i++)
        {
            OutboxEntry entry = _entries[i];
            if (entry.IsImpulse || entry.End.Number <= after || entry.First > last) continue;
            Hold(entry);
            into.Add(entry);
        }
    }
}

/// <summary>
/// A growing ring of outbox entries under absolute positions: an entry keeps its position while others come and go. One thread at a time.
/// </summary>
internal sealed class EntryRing
{
    private OutboxEntry[] _slots = new OutboxEntry[16];

    /// <summary>Position of the oldest entry.</summary>
    public long Start { get; private set; }

    /// <summary>Position behind the newest entry.</summary>
    public long End { get; private set; }

    public ref readonly OutboxEntry this[long position]
    {
        get
        {
            if (position < Start || position >= End) throw new ArgumentOutOfRangeException(nameof(position));
            return ref _slots[position & (_slots.Length - 1)];
        }
    }

    public void Push(in OutboxEntry entry)
    {
        if (End - Start == _slots.Length) Grow();
        _slots[End++ & (_slots.Length - 1)] = entry;
    }

    public OutboxEntry Pop()
    {
        OutboxEntry entry = this[Start];
        _slots[Start++ & (_slots.Length - 1)] = default;
        return entry;
    }

    private void Grow()
    {
        var larger = new OutboxEntry[_slots.Length * 2];
        for (long i = Start; i < End; i++) larger[i & (larger.Length - 1)] = _slots[i & (_slots.Length - 1)];
        _slots = larger;
    }
}
