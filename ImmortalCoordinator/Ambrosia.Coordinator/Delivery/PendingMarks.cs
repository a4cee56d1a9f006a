using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Checkpoint marks that ask the running session for an image and whose place the app has not reached: few, since the next is logged when
/// the one before is done with or given up. Marks of lower epochs ask nobody any more; those of other replicas a
/// secondary only, which compares, and they are not kept by a primary. Delivery adds, the
/// thread that reads the app takes.
/// </summary>
internal sealed class PendingMarks
{
    private readonly Lock gate = new();
    private readonly Queue<MarkNote> marks = new();
    private Epoch epoch;
    private string replica = "";
    private bool isPrimary;

    /// <summary>A session begins; these are what its welcome says.</summary>
    public void Begin(Epoch epoch, string replica)
    {
        lock (gate)
        {
            marks.Clear();
            this.epoch = epoch;
            this.replica = replica;
            isPrimary = false;
        }
    }

    /// <summary>BecomePrimary goes to the app behind what was delivered: from here on it answers its own marks only.</summary>
    public void BecomePrimary()
    {
        lock (gate) isPrimary = true;
    }

    /// <summary>The app answers this mark with an image (P5.8).</summary>
    public bool IsWanted(CheckpointMarkRecord mark)
    {
        lock (gate) return mark.Epoch >= epoch && (!isPrimary || mark.Replica == replica);
    }

    public void Add(MarkNote mark)
    {
        lock (gate) marks.Enqueue(mark);
    }

    /// <summary>
    /// The newest mark at or before an image's position; it and the older ones are done with. Null: no mark asked for the image.
    /// </summary>
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
