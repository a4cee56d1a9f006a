using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// The decisions of a replica that is not primary: when to try for the epoch, and whether the primary hangs. Owns what is known of the
/// primary that holds the lock. It never waits: a pump waits for the lock, looks at the clock, and asks again. Any thread; one lock.
/// </summary>
internal sealed class TakeOverMonitor(IFileSystem files, InstanceIdentity identity, CoordinatorOptions options)
{
    private readonly Lock _gate = new();
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
        lock (_gate)
        {
            bool isIdle = !_hasClaimed;
            _hasClaimed = true;
            return isIdle;
        }
    }

    private ClaimResult? Claim(Epoch? ignoreLocksOf)
    {
        lock (_gate)
        {
            if (_hasClaimed) return null;
            ClaimResult result = PrimaryClaim.TryClaim(files, options.LogDirectory, identity, options.Replica, Crash.Points, ignoreLocksOf);
            _held = result as ClaimResult.Held;
            _hasClaimed = result is ClaimResult.Claimed;
            return result;
        }
    }

    /// <summary>Looks at the heartbeat; an epoch: its primary hangs and is to be taken over from.</summary>
    /// <param name="now">Monotonic.</param>
    public Epoch? FindHanging(TimeSpan now)
    {
        lock (_gate)
        {
            if (now - _lastLook > options.HangLimit / 2) _watch.Forget(); // it was us who did not run
            _lastLook = now;
            if (_hasClaimed || _held is not { } primary || PrimaryLock.ReadBeat(files, primary.LockPath) is not { } beat) return null;
            return _watch.Hangs(primary.Epoch, beat, now) ? primary.Epoch : null;
        }
    }
}
