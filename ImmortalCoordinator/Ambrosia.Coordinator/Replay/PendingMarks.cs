using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
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
    private readonly RankedLock _gate = new(LockRank.PendingMarks);
    private readonly Queue<MarkSnapshot> _marks = new();
    private Epoch _epoch;
    private string _replica = "";
    private bool _isPrimary;

    /// <summary>The stretch of the log that was durable before the running session began. Any thread.</summary>
    public ReplayedStretch Replayed { get => _replayed; private set => _replayed = value; }

    private volatile ReplayedStretch _replayed = new(Lsn.Zero);

    /// <summary>A session begins; the first two are what its welcome says.</summary>
    public void Begin(Epoch epoch, string replica, ReplayedStretch replayed)
    {
        Replayed = replayed;
        using (_gate.Enter())
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
        using (_gate.Enter()) _isPrimary = true;
    }

    /// <summary>The app answers this mark with an image (P5.8).</summary>
    public bool IsWanted(CheckpointMarkRecord mark)
    {
        using (_gate.Enter()) return mark.Epoch >= _epoch && (!_isPrimary || mark.Replica == _replica);
    }

    public void Add(MarkSnapshot mark)
    {
        using (_gate.Enter()) _marks.Enqueue(mark);
    }

    /// <summary>
    /// The newest mark at or before an image's position; it and the older ones are done with. Null: no mark asked for the image.
    /// </summary>
    public MarkSnapshot? TakeFor(Lsn position)
    {
        using (_gate.Enter())
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

/// <summary>Tells of one session what its app replays: what was durable before the session began.</summary>
/// <param name="to">Records below this were durable then.</param>
internal sealed class ReplayedStretch(Lsn to)
{
    private volatile bool _isConfirmed;

    public Lsn To { get; } = to;

    /// <summary>
    /// All calls to others and answers of the replay are in digests that agreed, as far as the app has come in it; or there are none.
    /// Written by the thread that reads the app, read by any.
    /// </summary>
    public bool IsConfirmed { get => _isConfirmed; set => _isConfirmed = value; }
}
