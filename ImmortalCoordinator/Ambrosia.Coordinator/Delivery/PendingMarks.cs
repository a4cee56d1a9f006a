using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Checkpoint marks that have been delivered and whose place the app has not reached: few, since the next is logged when the one before
/// is done with. Delivery adds, the thread that reads the app takes.
/// </summary>
internal sealed class PendingMarks
{
    private readonly Lock gate = new();
    private readonly Queue<MarkNote> marks = new();

    public void Clear()
    {
        lock (gate) marks.Clear();
    }

    public void Add(MarkNote mark)
    {
        lock (gate) marks.Enqueue(mark);
    }

    /// <summary>The newest mark at or before an image's position; it and the older ones are done with. Null: no mark asked for the image.</summary>
    public MarkNote? TakeFor(Lsn position)
    {
        lock (gate)
        {
            MarkNote? newest = null;
            while (marks.TryPeek(out MarkNote? mark) && mark.End <= position) newest = marks.Dequeue();
            return newest;
        }
    }
}
