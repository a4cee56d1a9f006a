using System.Diagnostics;
using Ambrosia.Coordinator.AppSessions;
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
internal sealed class SecondaryPump : IDisposable
{
    /// <summary>A replica that may not claim yet looks again after this time.</summary>
    private static readonly TimeSpan s_unprovenPause = TimeSpan.FromMilliseconds(100);

    /// <summary>A replica that another was faster than looks again after this time.</summary>
    private static readonly TimeSpan s_lostPause = TimeSpan.FromMilliseconds(10);

    private readonly TakeOverMonitor _monitor;
    private readonly LogFollower _follower;
    private readonly IFileSystem _files;
    private readonly ISecondaryHost _host;
    private readonly ILogger _logger;
    private readonly SecondaryRole _role;
    private readonly PumpWork _work;
    private readonly AppSessionRegistry _sessions;
    private readonly CancellationTokenSource _stop = new();
    private readonly ManualResetEventSlim _followed = new(false);

    /// <summary>Set once an app has come that may execute this log: before, this replica claims nothing.</summary>
    private readonly ManualResetEventSlim _mayClaim = new(false);

    public SecondaryPump(
        TakeOverMonitor monitor, LogFollower follower, IFileSystem files, Coordinator coordinator, ISecondaryHost host, ILogger logger)
    {
        (_monitor, _follower, _files, _host, _logger) = (monitor, follower, files, host, logger);
        _work = host.Progress.Enter("follow");
        _sessions = coordinator.Sessions;
        _sessions.Admission.Accepted += _mayClaim.Set;
        if (_sessions.Admission.IsAccepted) _mayClaim.Set(); // its app was faster
        _role = new SecondaryRole(coordinator, monitor, follower, NewSpare, () =>
        {
            host.CaughtUp();
            logger.CaughtUp(follower.Epoch, follower.Stated, coordinator.Execution.Delivery.Records);
        }, _work.Begin) { Moves = host.Moves };
    }

    /// <summary>Says why this replica may not take the primary's place; null: it may.</summary>
    public string? Obstacle => _monitor.MayFollow(_follower.Epoch) ? null
        : "this machine and the primary's have not shown yet that they see at once what the other changes in the log's directory";

    public void Start()
    {
        PumpThread.Start("follow", FollowLoop, _host.Fail);
        PumpThread.Start("claim", ClaimLoop, _host.Fail);
    }

    /// <summary>Takes over because the operator wants this replica to be primary, whoever is.</summary>
    public void Promote() => PumpThread.Guard("promote", () =>
    {
        if (_mayClaim.IsSet) Act(_monitor.TryTakeOver(_follower.Epoch));
    }, _host.Fail);

    private void FollowLoop()
    {
        while (!_stop.IsCancellationRequested)
        {
            _work.Begin();
            SecondaryStep step = _role.Step(Stopwatch.GetElapsedTime(0), _stop.Token);
            _work.End();
            if (step.Hanging is { } epoch && _mayClaim.IsSet && _monitor.MayFollow(epoch)) TakeFrom(epoch);
            LockChecks.BeforeWait();
            _stop.Token.WaitHandle.WaitOne(step.Pause);
        }
        _followed.Set();
    }

    private PromotionSpare? NewSpare(Epoch follows)
    {
        try
        {
            return _host.NewSpare(follows);
        }
        catch (IOException e) // a take-over makes its own where there is none
        {
            _logger.SpareMissing(e.Message);
            return null;
        }
    }

    private void TakeFrom(Epoch epoch)
    {
        _logger.PrimaryHangs(epoch);
        ClaimResult? result = _monitor.TryTakeOver(epoch);
        if (result is ClaimResult.Claimed) PumpThread.Start("take over", () => Act(result), _host.Fail);
    }

    private void ClaimLoop()
    {
        try
        {
            for (bool isTold = false; !_stop.IsCancellationRequested;)
            {
                LockChecks.BeforeWait();
                _mayClaim.Wait(_stop.Token);
                ClaimResult? result = _host.AwaitingSpace(_monitor.Try);
                if (result is ClaimResult.Unproven) FollowUnproven();
                if (result is ClaimResult.Lost) _stop.Token.WaitHandle.WaitOne(s_lostPause); // a listing may be older than the claim
                if (result is not ClaimResult.Held held)
                {
                    Act(result);
                    continue;
                }
                _sessions.Admission.FollowAnother();
                if (!isTold) _host.AnotherIsPrimary(held);
                isTold = true;
                _host.AwaitingRefused(() => _files.WaitForLock(held.LockPath, _stop.Token))?.Dispose();
            }
        }
        catch (OperationCanceledException)
        {
            // The process is asked to end.
        }
    }

    /// <summary>The log is another machine's as long as nothing is proven: the app follows it, also where nobody is primary.</summary>
    private void FollowUnproven()
    {
        _sessions.Admission.FollowAnother();
        _stop.Token.WaitHandle.WaitOne(s_unprovenPause);
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
            PrimaryLog log = _host.TakeLogOver(claimed.Fence, _follower, _role.Spare);
            _host.BecomePrimary(new PrimaryStart(claimed.Fence, claimed.PrimaryLock, log));
        }
        catch (OperationCanceledException)
        {
            // It was waiting for space, and the process is asked to end.
        }
    }

    public void Dispose() => _stop.Cancel();
}

/// <summary>Does for a secondary what follows from its waiting: the process that it runs in. The thread that calls is the pump's.</summary>
internal interface ISecondaryHost
{
    /// <summary>The pump enters itself here.</summary>
    PumpProgress Progress { get; }

    /// <summary>Makes a file that the log can go on in after a promotion in place of this epoch.</summary>
    /// <exception cref="IOException">There is no room for it.</exception>
    PromotionSpare NewSpare(Epoch follows);

    /// <summary>The app has executed all that is stated as durable, for the first time.</summary>
    void CaughtUp();

    /// <summary>This replica moves, and its app has executed the log up to here; zero: it could not go on now.</summary>
    void Moves(Lsn executed);

    /// <summary>Takes over the log of an epoch that was claimed.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    PrimaryLog TakeLogOver(Fence claimed, LogFollower? follower, PromotionSpare? spare);

    /// <summary>The replica is primary from here on.</summary>
    void BecomePrimary(PrimaryStart start);

    /// <summary>Tries until the disk has room for what is made.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    T AwaitingSpace<T>(Func<T> make);

    /// <summary>Tries until the system does not refuse what can be repeated.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    T AwaitingRefused<T>(Func<T> make);

    /// <summary>Another replica holds the lock; said once.</summary>
    void AnotherIsPrimary(ClaimResult.Held held);

    /// <summary>Ends the process.</summary>
    void Fail(int code, string why);
}
