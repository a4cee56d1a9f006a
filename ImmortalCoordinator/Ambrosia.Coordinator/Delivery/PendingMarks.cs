using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Checkpoint marks that ask the running session for an image and whose place the app has not reached: few, since the next is logged when
/// the one before is done with or given up. Marks of lower epochs or other replicas ask somebody else and are not kept. Delivery adds, the
/// thread that reads the app takes.
/// </summary>
internal sealed class PendingMarks
{
    private readonly Lock gate = new();
    private readonly Queue<MarkNote> marks = new();
    private Epoch epoch;
    private string replica = "";

    /// <summary>A session begins; these are what its welcome says.</summary>
    public void Begin(Epoch epoch, string replica)
    {
        lock (gate)
        {
            marks.Clear();
            this.epoch = epoch;
            this.replica = replica;
        }
    }

    /// <summary>The app answers this mark with an image (P5.8).</summary>
    public bool IsWanted(CheckpointMarkRecord mark)
    {
        lock (gate) return mark.Epoch >= epoch && mark.Replica == replica; // higher: this replica became primary during the session
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
