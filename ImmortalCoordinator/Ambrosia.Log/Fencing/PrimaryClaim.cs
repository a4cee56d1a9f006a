using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// One try to become primary (log-format L7.6). Locks only save pointless take-overs; that there is one claimer per epoch rests on the
/// fence. It never waits. A claimer holds its lock before it claims, so a living one is never without.
/// </summary>
public static class PrimaryClaim
{
    /// <param name="ignoreLocksOf">Claims although the primary of this epoch holds its lock: its heartbeat stands still (an
    /// observer's decision).</param>
    public static ClaimResult Try(
        IFileSystem fs, string dir, InstanceIdentity identity, string replica, ICrashPoints crash, Epoch? ignoreLocksOf = null)
    {
        Epoch current = Fence.Current(fs, dir, identity);
        if (current != ignoreLocksOf && HeldLock(fs, dir, current) is { } held) return new ClaimResult.Held(held, current);
        if (Fence.Current(fs, dir, identity) != current) return new ClaimResult.Lost();

        string path = Path.Combine(dir, new PrimaryFileName(current.Next, replica).ToString());
        IFileLock? mine = fs.TryLock(path);
        if (mine is null) return new ClaimResult.Held(path, current);
        if (!mine.IsStillNamed) // a loser of our name removed it between our open and our lock
        {
            mine.Dispose();
            return new ClaimResult.Lost();
        }
        if (Fence.TryClaim(fs, dir, identity, current) is { } fence)
        {
            crash.Hit("takeover.afterClaim");
            return new ClaimResult.Claimed(fence, new PrimaryLock(mine, path));
        }
        fs.Delete(path);
        mine.Dispose();
        return new ClaimResult.Lost();
    }

    /// <summary>Path of the first lock of the epoch that somebody holds; null when none is.</summary>
    private static string? HeldLock(IFileSystem fs, string dir, Epoch epoch)
    {
        foreach (string name in fs.List(dir))
        {
            if (PrimaryFileName.TryParse(name) is not { } file || file.Epoch != epoch) continue;
            string path = Path.Combine(dir, name);
            using IFileLock? taken = fs.TryLock(path);
            if (taken is null) return path;
            if (!taken.IsStillNamed) return path; // removed and made again in between: whoever did lives
        }
        return null;
    }
}
