namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Where threads stand that found no room in the log. Each commit lets the first few go, who fill what it has freed, and whose commit lets the next ones go: with
/// many links, to wake all of them for room that is enough for some costs more than the room is worth. Nobody stands longer than a short
/// while. Any thread.
/// </summary>
internal sealed class RoomLine(TimeSpan patience)
{
    /// <summary>Each brings up to half a MiB, and a commit frees four pages of one.</summary>
    private const int LetGoAtOnce = 8;

    private readonly object gate = new(); // a monitor: it has a queue to wait in
    private long made;
    private int waiting;

    /// <summary>How often room was made: to be read before looking for it.</summary>
    public long Made => Interlocked.Read(ref made);

    /// <summary>Waits until room was made once more than <paramref name="seen"/>, and it is this thread's turn; a short while at the most.</summary>
    public void Wait(long seen)
    {
        Interlocked.Increment(ref waiting); // before the look: whoever makes room now either is seen, or sees that somebody waits
        lock (gate)
        {
            if (Made == seen) Monitor.Wait(gate, patience);
        }
        Interlocked.Decrement(ref waiting);
    }

    public void Make()
    {
        Interlocked.Increment(ref made);
        if (Volatile.Read(ref waiting) == 0) return;
        lock (gate)
        {
            for (int i = 0; i < LetGoAtOnce; i++) Monitor.Pulse(gate);
        }
    }
}
