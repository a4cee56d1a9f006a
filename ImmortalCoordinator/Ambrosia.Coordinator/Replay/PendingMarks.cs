using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Checkpoint marks that ask the running session for an image and whose place the app has not reached: few, since the next is logged when
/// the one before is done with or given up. Marks of lower epochs ask nobody any more; those of other replicas a
/// secondary only, which compares, and they are not kept by a primary. Delivery adds, the
/// thread that reads the app takes.
/// </summary>
internal sealed class PendingMarks
{
    private readonly Lock _gate = new();
    private readonly Queue<MarkSnapshot> _marks = new();
    private Epoch _epoch;
    private string _replica = "";
    private bool _isPrimary;

    /// <summary>A session begins; these are what its welcome says.</summary>
    public void Begin(Epoch epoch, string replica)
    {
        lock (_gate)
        {
            _marks.Clear();
            _epoch = epoch;
            _replica = replica;
            _isPrimary = false;
        }
    }

    /// <summary>BecomePrimary goes to the app behind what was delivered: from here on it answers its own marks only.</summary>
    public void BecomePrimary()
    {
        lock (_gate) _isPrimary = true;
    }

    /// <summary>The app answers this mark with an image (P5.8).</summary>
    public bool IsWanted(CheckpointMarkRecord mark)
    {
        lock (_gate) return mark.Epoch >= _epoch && (!_isPrimary || mark.Replica == _replica);
    }

    public void Add(MarkSnapshot mark)
    {
        lock (_gate) _marks.Enqueue(mark);
    }

    /// <summary>
    /// The newest mark at or before an image's position; it and the older ones are done with. Null: no mark asked for the image.
    /// </summary>
    public MarkSnapshot? TakeFor(Lsn position)
    {
        lock (_gate)
        {
            MarkSnapshot? newest = null;
            while (_marks.TryPeek(out MarkSnapshot? mark) && mark.End <= position) newest = _marks.Dequeue();
            return newest;
        }
    }
}

/// <summary>
/// Keeps a checkpoint mark that has been delivered: the fold right behind it, from which the fold at the checkpoint's place is made.
/// </summary>
/// <param name="End">End of its record.</param>
internal sealed record MarkSnapshot(Lsn PageLsn, Lsn End, ReplayState State, CheckpointMarkRecord Mark);
