using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// The decisions of a replica that is not primary: when to try for the epoch, and whether the primary hangs. Owns what is known of the
/// primary that holds the lock. It never waits: a pump waits for the lock, looks at the clock, and asks again. Any thread; one lock.
/// </summary>
internal sealed class Standby(IFileSystem files, InstanceIdentity identity, CoordinatorOptions options)
{
    private readonly Lock gate = new();
    private readonly PrimaryWatch watch = new(options.HangLimit);
    private ClaimResult.Held? held;
    private TimeSpan lastLook;
    private bool hasClaimed;

    /// <summary>One try, with regard to locks; null: lost, or claimed already by another thread of ours.</summary>
    public ClaimResult? Try() => Claim(options.IgnoreLock ? Fence.Current(files, options.LogDirectory, identity) : null);

    /// <summary>The primary hangs, or the operator wants it gone: its lock does not count.</summary>
    public ClaimResult? TryOver(Epoch epoch) => Claim(epoch);

    /// <summary>This replica is to claim nothing any more; false: it has.</summary>
    public bool TryForbid()
    {
        lock (gate)
        {
            bool isIdle = !hasClaimed;
            hasClaimed = true;
            return isIdle;
        }
    }

    private ClaimResult? Claim(Epoch? ignoreLocksOf)
    {
        lock (gate)
        {
            if (hasClaimed) return null;
            ClaimResult result = PrimaryClaim.Try(files, options.LogDirectory, identity, options.Replica, Crash.Points, ignoreLocksOf);
            held = result as ClaimResult.Held;
            hasClaimed = result is ClaimResult.Claimed;
            return result;
        }
    }

    /// <summary>Looks at the heartbeat; an epoch: its primary hangs and is to be taken over from.</summary>
    /// <param name="now">Monotonic.</param>
    public Epoch? FindHanging(TimeSpan now)
    {
        lock (gate)
        {
            if (now - lastLook > options.HangLimit / 2) watch.Forget(); // it was us who did not run
            lastLook = now;
            if (hasClaimed || held is not { } primary || PrimaryLock.ReadBeat(files, primary.LockPath) is not { } beat) return null;
            return watch.Hangs(primary.Epoch, beat, now) ? primary.Epoch : null;
        }
    }
}
