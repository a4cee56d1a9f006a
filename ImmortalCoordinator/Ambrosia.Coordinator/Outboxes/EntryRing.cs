namespace Ambrosia.Coordinator.Outboxes;

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
