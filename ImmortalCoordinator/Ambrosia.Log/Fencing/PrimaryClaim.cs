using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Makes one try to become primary (log-format L7.6). The locks only save pointless take-overs; that there is one claimer per epoch rests
/// on the fence. A claimer holds its lock before it claims, so a living one is never without. A try never waits. Any thread.
/// </summary>
public static class PrimaryClaim
{
    /// <summary>Claims the next epoch, unless a process that lives is primary.</summary>
    /// <param name="ignoreLocksOf">Claims although the primary of this epoch holds its lock: an observer has decided that its heartbeat
    /// stands still.</param>
    /// <param name="coherence">Says whose place this process may take where machines share the directory; null: one machine has it.</param>
    /// <param name="number">A number that no other claim draws, by which peers know this one (protocol P6.12); 0: none was drawn.</param>
    public static ClaimResult TryClaim(IFileSystem fs, string dir, InstanceIdentity identity, string replica, ICrashPoints crash,
        Epoch? ignoreLocksOf = null, CoherenceRule? coherence = null, ulong number = 0)
    {
        Epoch current = Fence.Current(fs, dir, identity);
        if (current != ignoreLocksOf && HeldLock(fs, dir, current) is { } held) return new ClaimResult.Held(held, current);
        if (coherence?.MayFollow(current) == false) return new ClaimResult.Unproven(current);
        if (Fence.Current(fs, dir, identity) != current) return new ClaimResult.Lost();

        string path = Path.Combine(dir, new PrimaryFileName(current.Next, replica).ToString());
        IFileLock? mine = fs.TryLock(path);
        if (mine is null) return new ClaimResult.Held(path, current);
        if (!mine.IsStillNamed) // a loser of our name removed it between our open and our lock
        {
            mine.Dispose();
            return new ClaimResult.Lost();
        }
        MountId mount = coherence?.Mount ?? default;
        ClaimHistory claims = PrimaryLock.WriteClaim(mine, mount, PrimaryLock.ReadClaims(fs, dir, current).With(current.Next, number));
        if (Fence.TryClaim(fs, dir, identity, current) is { } fence)
        {
            PrimaryLock.WriteWon(mine);
            crash.Hit("takeover.afterClaim");
            return new ClaimResult.Claimed(fence, new PrimaryLock(mine, path, mount, claims));
        }
        fs.Delete(path);
        mine.Dispose();
        return new ClaimResult.Lost();
    }

    /// <summary>Says whether a process that lives is primary, or about to be.</summary>
    public static bool HasPrimary(IFileSystem fs, string dir, InstanceIdentity identity) =>
        HeldLock(fs, dir, Fence.Current(fs, dir, identity)) is not null;

    /// <summary>
    /// Returns the path of the first lock of the epoch that a process holds and that means something; null when none is held.
    /// </summary>
    private static string? HeldLock(IFileSystem fs, string dir, Epoch epoch)
    {
        foreach (string path in PrimaryLock.Standing(fs, dir, epoch))
        {
            using IFileLock? taken = fs.TryLock(path);
            if (taken is null) return path;
            if (!taken.IsStillNamed) return path; // it was removed and made again in between: whoever did that lives
        }
        return null;
    }
}
