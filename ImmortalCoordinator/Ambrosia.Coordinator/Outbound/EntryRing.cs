namespace Ambrosia.Coordinator;

/// <summary>
/// A growing ring of outbox entries under absolute positions: an entry keeps its position while others come and go. One thread at a time.
/// </summary>
internal sealed class EntryRing
{
    private OutboxEntry[] slots = new OutboxEntry[16];

    /// <summary>Position of the oldest entry.</summary>
    public long Start { get; private set; }

    /// <summary>Position behind the newest entry.</summary>
    public long End { get; private set; }

    public ref readonly OutboxEntry this[long position]
    {
        get
        {
            if (position < Start || position >= End) throw new ArgumentOutOfRangeException(nameof(position));
            return ref slots[position & (slots.Length - 1)];
        }
    }

    public void Push(in OutboxEntry entry)
    {
        if (End - Start == slots.Length) Grow();
        slots[End++ & (slots.Length - 1)] = entry;
    }

    public OutboxEntry Pop()
    {
        OutboxEntry entry = this[Start];
        slots[Start++ & (slots.Length - 1)] = default;
        return entry;
    }

    private void Grow()
    {
        var larger = new OutboxEntry[slots.Length * 2];
        for (long i = Start; i < End; i++) larger[i & (larger.Length - 1)] = slots[i & (slots.Length - 1)];
        slots = larger;
    }
}
