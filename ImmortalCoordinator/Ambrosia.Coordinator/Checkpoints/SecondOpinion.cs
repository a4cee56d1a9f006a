using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// Sees to it that no history is removed behind a checkpoint whose state only one execution has had. A secondary that finds its state equal
/// to another's at a checkpoint's place says so beside its lock. A primary keeps the log from such a place on, and takes a checkpoint
/// itself where the others have taken one or several without that, since secondaries are held against the primary's state. The thread that
/// writes checkpoints.
/// </summary>
internal sealed class SecondOpinion(CoordinatorInputs inputs)
{
    /// <summary>
    /// The primary takes the next checkpoint behind this many of others that no replica has confirmed. A single secondary that executes is
    /// held against the primary alone, so the primary takes every second one; several secondaries are held against each other first.
    /// </summary>
    internal const int OfOneMax = 1, OfSeveralMax = 3;

    /// <summary>
    /// So many unconfirmed checkpoints are waited for; then the log is truncated all the same, since a replica that never compares must not
    /// fill the disk.
    /// </summary>
    internal const int UnconfirmedMax = 16;

    private readonly string _directory = inputs.Options.LogDirectory, _replica = inputs.Options.Replica;
    private bool _isGivenUp;

    /// <summary>Returns true when the primary is to take the next checkpoint itself, though there are others who could.</summary>
    /// <param name="present">The replicas that run.</param>
    public bool IsDue(IReadOnlyList<string> present)
    {
        if (FindAgreed(present) is not { } agreed) return false;
        int max = present.Count(name => name != _replica && Executes(name)) > 1 ? OfSeveralMax : OfOneMax;
        return CheckpointDirectory.List(inputs.Files, _directory)
            .TakeWhile(name => name.Replica != _replica && name.Lsn > agreed).Count() >= max;
    }

    /// <summary>One that waits, or has no app, has no state to hold against another's.</summary>
    private bool Executes(string name) => ReplicaLock.ReadMove(inputs.Files, _directory, name).Executed > Lsn.Zero;

    /// <summary>A checkpoint at or below this must stay, with the log behind it; null: any will do, since no other replica runs.</summary>
    public Lsn? FindNeeded()
    {
        Lsn? agreed = FindAgreed(ReplicaLock.ListRunning(inputs.Files, _directory));
        int unconfirmed = agreed is null ? 0 : CheckpointDirectory.List(inputs.Files, _directory).Count(name => name.Lsn > agreed);
        bool isGivenUp = unconfirmed >= UnconfirmedMax;
        if (isGivenUp && !_isGivenUp) inputs.Logger.CheckpointsUnconfirmed(unconfirmed);
        _isGivenUp = isGivenUp;
        return isGivenUp ? null : agreed;
    }

    private Lsn? FindAgreed(IReadOnlyList<string> present) =>
        ReplicaLock.FindAgreed(inputs.Files, _directory, present.Where(name => name != _replica));
}
