using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// The decisions of a replica that is not primary: when to try for the epoch, and whether the primary hangs. Owns what is known of the
/// primary that holds the lock. It never waits: a pump waits for the lock, looks at the clock, and asks again. Any thread; one lock.
/// </summary>
/// <param name="coherence">Whose place this replica may take where machines share the directory; null: one machine has it.</param>
/// <param name="newNumber">Draws the number of a claim, by which peers know it (protocol P6.12); null: claims have none.</param>
internal sealed class TakeOverMonitor(
    IFileSystem files, InstanceIdentity identity, CoordinatorOptions options, CoherenceRule? coherence = null, Func<ulong>? newNumber = null)
{
    private readonly RankedLock _gate = new(LockRank.TakeOverMonitor);
    private readonly HangDetector _watch = new(options.HangLimit);
    private ClaimResult.Held? _held;
    private TimeSpan _lastLook;
    private bool _hasClaimed;

    /// <summary>One try, with regard to locks; null: lost, or claimed already by another thread of ours.</summary>
    public ClaimResult? Try() => Claim(options.IgnoreLock ? Fence.Current(files, options.LogDirectory, identity) : null);

    /// <summary>The primary hangs, or the operator wants it gone: its lock does not count.</summary>
    public ClaimResult? TryTakeOver(Epoch epoch) => Claim(epoch);

    /// <summary>This replica is to claim nothing any more; false: it has.</summary>
    public bool TryForbid()
    {
        using (_gate.Enter())
        {
            bool isIdle = !_hasClaimed;
            _hasClaimed = true;
            return isIdle;
        }
    }

    /// <summary>Says whether this replica may take the place of the primary of an epoch.</summary>
    public bool MayFollow(Epoch epoch) => coherence?.MayFollow(epoch) != false;

    private ClaimResult? Claim(Epoch? ignoreLocksOf)
    {
        using (_gate.Enter())
        {
            if (_hasClaimed) return null;
            ClaimResult result = PrimaryClaim.TryClaim(
                files, options.LogDirectory, identity, options.Replica, Crash.Points, ignoreLocksOf, coherence, newNumber?.Invoke() ?? 0);
            _held = result as ClaimResult.Held;
            _hasClaimed = result is ClaimResult.Claimed;
            return result;
        }
    }

    /// <summary>Looks at the heartbeat; an epoch: its primary hangs and is to be taken over from.</summary>
    /// <param name="now">Monotonic.</param>
    public Epoch? FindHanging(TimeSpan now)
    {
        using (_gate.Enter())
        {
            if (now - _lastLook > options.HangLimit / 2) _watch.Forget(); // it was us who did not run
            _lastLook = now;
            if (_hasClaimed || _held is not { } primary) return null;
            string path = PrimaryLock.Watched(files, options.LogDirectory, primary.Epoch, primary.LockPath);
            if (path != primary.LockPath) _held = primary = primary with { LockPath = path }; // the other was a loser of the claim
            if (PrimaryLock.ReadBeat(files, path) is not { } beat) return null;
            return _watch.Hangs(primary.Epoch, beat, now) ? primary.Epoch : null;
        }
    }
}

/// <summary>
/// Whether a primary that still holds its lock hangs: its heartbeat has stood still for the limit, on the observer's monotonic clock.
/// Pure: who looks brings beat and time. A wrong answer costs a take-over, never safety (F1, F2).
/// </summary>
internal sealed class HangDetector(TimeSpan limit)
{
    /// <summary>A primary that has not beaten yet is in its take-over, which reads the log's tail.</summary>
    private const int SilentAtFirst = 8;

    private (Epoch Epoch, ulong Beat)? _last;
    private TimeSpan _since;

    /// <param name="beat">The counter in the lock file of the primary of <paramref name="epoch"/>.</param>
    /// <param name="now">Monotonic.</param>
    public bool Hangs(Epoch epoch, ulong beat, TimeSpan now)
    {
        if (_last != (epoch, beat))
        {
            _last = (epoch, beat);
            _since = now;
        }
        return now - _since >= (beat == 0 ? limit * SilentAtFirst : limit);
    }

    /// <summary>Nothing was seen for a while, by no fault of the primary's: the count begins again.</summary>
    public void Forget() => _last = null;
}
