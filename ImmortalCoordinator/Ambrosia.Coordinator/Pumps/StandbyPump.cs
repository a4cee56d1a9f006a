using System.Diagnostics;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Waits on behalf of a secondary: one thread follows the log's tail and looks at the primary's heartbeat, one is blocked on its lock, so
/// that a killed primary is replaced at once. Whichever has a reason first claims, takes the log over and hands it on.
/// </summary>
internal sealed class StandbyPump(
    Standby standby, LogFollower follower, IFileSystem files, Coordinator coordinator, Func<Epoch, PromotionSpare> newSpare,
    Func<Fence, PromotionSpare?, OpenLog> takeOver, Action<Leadership> lead, Action caughtUp, Action<string> say,
    Action<int, string> fail) : IDisposable
{
    private const int PauseMsMin = 1, PauseMsMax = 16;
    private static readonly TimeSpan lookEvery = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource stop = new();
    private readonly ManualResetEventSlim followed = new(false);
    private Thread? follow;
    private bool wasCaughtUp;

    /// <summary>The follow loop's until that has ended.</summary>
    private PromotionSpare? spare;
    private Epoch spareTried;

    public void Start()
    {
        follow = new Thread(() => Guard(FollowLoop)) { Name = "follow", IsBackground = true };
        follow.Start();
        new Thread(() => Guard(ClaimLoop)) { Name = "claim", IsBackground = true }.Start();
    }

    /// <summary>The operator wants this replica to be primary, whoever is.</summary>
    public void Promote() => Guard(() => Act(standby.TryOver(follower.Epoch)));

    private void FollowLoop()
    {
        int pauseMs = PauseMsMin;
        TimeSpan lastLook = TimeSpan.Zero;
        while (!stop.IsCancellationRequested)
        {
            Lsn before = follower.Stated;
            bool advanced = false;
            while (follower.Step() && !stop.IsCancellationRequested) advanced = true;
            if (follower.Stated != before) coordinator.Followed();
            SayOnceCaughtUp();
            TimeSpan now = Stopwatch.GetElapsedTime(0);
            if (now - lastLook >= lookEvery)
            {
                lastLook = now;
                if (standby.FindHanging(now) is { } epoch) TakeFrom(epoch);
            }
            pauseMs = advanced ? PauseMsMin : Math.Min(pauseMs * 2, PauseMsMax);
            if (!advanced && wasCaughtUp && PrepareSpare()) continue;
            stop.Token.WaitHandle.WaitOne(pauseMs);
        }
        followed.Set();
    }

    /// <summary>
    /// One step towards a zeroed file for the promotion, when there is nothing to read; a full disk means that there is none.
    /// </summary>
    private bool PrepareSpare()
    {
        if (spareTried == follower.Epoch) return spare?.Prepare() ?? false;
        spareTried = follower.Epoch;
        spare?.Dispose(); // of an epoch that is over: its file is removed by that take-over
        spare = null;
        try
        {
            spare = newSpare(follower.Epoch);
        }
        catch (IOException e)
        {
            say($"no space is set aside for a promotion: {e.Message}");
        }
        return true;
    }

    private void SayOnceCaughtUp()
    {
        if (wasCaughtUp || !coordinator.IsCaughtUp) return;
        wasCaughtUp = true;
        caughtUp();
        say($"role=secondary epoch={follower.Epoch} caught up at {follower.Stated}, {coordinator.Delivered} records executed");
    }

    private void TakeFrom(Epoch epoch)
    {
        say($"the primary of epoch {epoch} holds its lock and its heartbeat stands still: taking over");
        ClaimResult? result = standby.TryOver(epoch);
        if (result is ClaimResult.Claimed) new Thread(() => Guard(() => Act(result))) { Name = "take over", IsBackground = true }.Start();
    }

    private void ClaimLoop()
    {
        while (!stop.IsCancellationRequested)
        {
            ClaimResult? result = standby.Try();
            if (result is ClaimResult.Held held)
            {
                try
                {
                    files.WaitForLock(held.LockPath, stop.Token)?.Dispose();
                }
                catch (OperationCanceledException)
                {
                    return;
                }
                continue;
            }
            Act(result);
        }
    }

    /// <summary>After a claim: the follower stops, and the log is ours from where it stood.</summary>
    private void Act(ClaimResult? result)
    {
        if (result is not ClaimResult.Claimed claimed) return;
        stop.Cancel();
        followed.Wait();
        OpenLog log = takeOver(claimed.Fence, spare);
        lead(new Leadership(claimed.Fence, claimed.PrimaryLock, log));
    }

    private void Guard(Action loop)
    {
        try
        {
            loop();
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            fail(code, fatal.Message);
        }
        catch (ProtocolViolation damage)
        {
            fail(ExitCodes.Damage, damage.Message);
        }
    }

    public void Dispose() => stop.Cancel();
}
