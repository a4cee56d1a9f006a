using System.Diagnostics;
using Ambrosia.Coordinator.Primary;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Waits on behalf of a secondary: one thread follows the log's tail and looks at the primary's heartbeat, one is blocked on its lock, so
/// that a killed primary is replaced at once. Whichever has a reason first claims, takes the log over and hands it on.
/// </summary>
internal sealed class SecondaryPump(
    TakeOverMonitor monitor, LogFollower follower, IFileSystem files, Coordinator coordinator, ISecondaryHost host, ILogger logger)
    : IDisposable
{
    private const int PauseMsMin = 1, PauseMsMax = 16;
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource _stop = new();
    private readonly ManualResetEventSlim _followed = new(false);
    private Thread? _follow;
    private bool _wasCaughtUp;

    /// <summary>The space set aside for a promotion, which belongs to the follow loop until that has ended.</summary>
    private PromotionSpare? _spare;
    private Epoch _spareTried;

    public void Start()
    {
        _follow = new Thread(() => Guard(FollowLoop)) { Name = "follow", IsBackground = true };
        _follow.Start();
        new Thread(() => Guard(ClaimLoop)) { Name = "claim", IsBackground = true }.Start();
    }

    /// <summary>Takes over because the operator wants this replica to be primary, whoever is.</summary>
    public void Promote() => Guard(() => Act(monitor.TryTakeOver(follower.Epoch)));

    private void FollowLoop()
    {
        int pauseMs = PauseMsMin;
        TimeSpan lastLook = TimeSpan.Zero;
        while (!_stop.IsCancellationRequested)
        {
            Lsn before = follower.Stated;
            bool advanced = false;
            while (follower.Step() && !_stop.IsCancellationRequested) advanced = true;
            if (follower.Stated != before) coordinator.Followed();
            NoteWhenCaughtUp();
            TimeSpan now = Stopwatch.GetElapsedTime(0);
            if (now - lastLook >= s_lookEvery)
            {
                lastLook = now;
                if (monitor.FindHanging(now) is { } epoch) TakeFrom(epoch);
            }
            pauseMs = advanced ? PauseMsMin : Math.Min(pauseMs * 2, PauseMsMax);
            if (!advanced && _wasCaughtUp && PrepareSpare()) continue;
            LockChecks.BeforeWait();
            _stop.Token.WaitHandle.WaitOne(pauseMs);
        }
        _followed.Set();
    }

    /// <summary>
    /// Takes one step towards a zeroed file for the promotion, when there is nothing to read; a full disk means that there is none.
    /// </summary>
    private bool PrepareSpare()
    {
        if (_spareTried == follower.Epoch) return _spare?.Prepare() ?? false;
        _spareTried = follower.Epoch;
        _spare?.Dispose(); // of an epoch that is over: its file is removed by that take-over
        _spare = null;
        try
        {
            _spare = host.NewSpare(follower.Epoch);
        }
        catch (IOException e)
        {
            logger.SpareMissing(e.Message);
        }
        return true;
    }

    private void NoteWhenCaughtUp()
    {
        if (_wasCaughtUp || !coordinator.Sessions.IsCaughtUp) return;
        _wasCaughtUp = true;
        host.CaughtUp();
        logger.CaughtUp(follower.Epoch, follower.Stated, coordinator.Execution.Delivery.Records);
    }

    private void TakeFrom(Epoch epoch)
    {
        logger.PrimaryHangs(epoch);
        ClaimResult? result = monitor.TryTakeOver(epoch);
        if (result is ClaimResult.Claimed) new Thread(() => Guard(() => Act(result))) { Name = "take over", IsBackground = true }.Start();
    }

    private void ClaimLoop()
    {
        while (!_stop.IsCancellationRequested)
        {
            ClaimResult? result = monitor.Try();
            if (result is ClaimResult.Held held)
            {
                try
                {
                    files.WaitForLock(held.LockPath, _stop.Token)?.Dispose();
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

    /// <summary>Acts after a claim: the follower stops, and the log is ours from where it stood.</summary>
    private void Act(ClaimResult? result)
    {
        if (result is not ClaimResult.Claimed claimed) return;
        _stop.Cancel();
        LockChecks.BeforeWait();
        _followed.Wait();
        try
        {
            PrimaryLog log = host.TakeLogOver(claimed.Fence, follower, _spare);
            host.BecomePrimary(new PrimaryStart(claimed.Fence, claimed.PrimaryLock, log));
        }
        catch (OperationCanceledException)
        {
            // It was waiting for space, and the process is asked to end.
        }
    }

    private void Guard(Action loop)
    {
        try
        {
            loop();
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            host.Fail(code, fatal.Message);
        }
        catch (ProtocolViolation damage)
        {
            host.Fail(ExitCodes.Damage, damage.Message);
        }
    }

    public void Dispose() => _stop.Cancel();
}

/// <summary>Does for a secondary what follows from its waiting: the process that it runs in. The thread that calls is the pump's.</summary>
internal interface ISecondaryHost
{
    /// <summary>Makes a file that the log can go on in after a promotion in place of this epoch.</summary>
    /// <exception cref="IOException">There is no room for it.</exception>
    PromotionSpare NewSpare(Epoch follows);

    /// <summary>The app has executed all that is stated as durable, for the first time.</summary>
    void CaughtUp();

    /// <summary>Takes over the log of an epoch that was claimed.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    PrimaryLog TakeLogOver(Fence claimed, LogFollower? follower, PromotionSpare? spare);

    /// <summary>The replica is primary from here on.</summary>
    void BecomePrimary(PrimaryStart start);

    /// <summary>Ends the process.</summary>
    void Fail(int code, string why);
}
