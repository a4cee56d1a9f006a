using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Drives what happens by the clock: due records, heartbeats to the app, the idle check of the fence, and space ahead of the log's tail.
/// It has three threads of its own. The one that checks the fence and beats does nothing else, so that whatever hangs elsewhere does not
/// make a primary look as if it hung.
/// </summary>
/// <param name="calls">The calls that other threads may hang in; this one tells of those that do.</param>
/// <param name="garbage">Null: others have a say in this process's memory.</param>
internal sealed class BackgroundPump(
    Coordinator coordinator, BlockingCalls calls, Action commit, Action<int, string> fail, ILogger logger,
    GarbageBound? garbage) : IDisposable
{
    private static readonly TimeSpan s_tickEvery = TimeSpan.FromMilliseconds(20), s_rest = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(2), s_slowPause = TimeSpan.FromMilliseconds(10),
        s_idlePause = TimeSpan.FromMilliseconds(100), s_shortage = TimeSpan.FromMilliseconds(100);

    /// <summary>A log that grew by less during a rest uses up little of the zeros ahead of it before the end of a longer one.</summary>
    private const long SlowBytes = 64 << 10;

    private static readonly TimeSpan s_fenceEvery = TimeSpan.FromMilliseconds(240);

    private const int HeartbeatMs = 1000, LetGoMs = 10_000, LookMs = 250;

    /// <summary>So many ticks after the last record the log has its mark, and nothing is left to do.</summary>
    private const int QuietTicks = 3;

    private readonly AutoResetEvent _tick = new(false), _space = new(false), _fence = new(false);
    private volatile bool _stopped;

    /// <summary>It is 1 while the thread that ticks sleeps for longer than a tick.</summary>
    private int _resting;

    public void Start()
    {
        new Thread(() => Guard(FenceLoop)) { Name = "fence", IsBackground = true }.Start();
        new Thread(() => Guard(TickLoop)) { Name = "ticks", IsBackground = true }.Start();
        new Thread(() => Guard(SpaceLoop)) { Name = "space", IsBackground = true }.Start();
    }

    /// <summary>Hears that space for the log is waited for. Any thread may call it.</summary>
    public void PrepareSpaceNow() => _space.Set();

    /// <summary>
    /// Hears that something has come in: what follows from it is looked after in ticks again. Any thread may call it; while ticks go on it
    /// costs a look at a flag.
    /// </summary>
    public void Stir()
    {
        if (Volatile.Read(ref _resting) != 0 && Interlocked.Exchange(ref _resting, 0) != 0) _tick.Set();
    }

    private void FenceLoop()
    {
        while (!_stopped)
        {
            coordinator.CheckFence();
            _fence.WaitOne(s_fenceEvery);
        }
    }

    private void TickLoop()
    {
        Lsn last = Lsn.Zero;
        long now = Environment.TickCount64;
        var (heartbeat, letGo, look) = (now, now, now);
        for (int quiet = 0; !_stopped;)
        {
            AwaitTick(isResting: quiet > QuietTicks && !coordinator.Queries.IsAwaited);
            now = Environment.TickCount64;
            coordinator.Queries.Tick();
            calls.Tick();
            garbage?.Look();
            coordinator.Outputs.Backpressure.Tick();
            if (coordinator.HasLog)
            {
                Lsn tail = coordinator.Log.Tail;
                quiet = tail == last ? quiet + 1 : 0;
                coordinator.Tick(isQuiet: tail == last);
                last = tail;
            }
            if (IsDue(ref heartbeat, HeartbeatMs, now)) coordinator.Sessions.Live?.SendHeartbeat();
            if (IsDue(ref look, LookMs, now)) coordinator.LookAtApp();
            if (IsDue(ref letGo, LetGoMs, now)) coordinator.Execution.Delivery.ReleaseIfIdle();
        }
    }

    /// <summary>
    /// A wake-up in an idle process costs a tenth of a millisecond: one that has nothing to do sleeps longer, unless it is stirred.
    /// </summary>
    private void AwaitTick(bool isResting)
    {
        if (isResting) Interlocked.Exchange(ref _resting, 1);
        _tick.WaitOne(isResting ? s_rest : s_tickEvery);
        Volatile.Write(ref _resting, 0);
    }

    private static bool IsDue(ref long last, int everyMs, long now)
    {
        if (now - last < everyMs) return false;
        last = now;
        return true;
    }

    private void SpaceLoop()
    {
        bool wasShort = false;
        Lsn last = Lsn.Zero;
        while (!_stopped)
        {
            if (!coordinator.HasLog)
            {
                _space.WaitOne(s_idlePause);
                continue;
            }
            LogWriter log = coordinator.Log;
            bool isWaiting = log.IsAwaitingSpace, more = log.PrepareSpace(), isShort = log.IsSpaceShort;
            if (isShort != wasShort) LogWhether(isShort, log);
            wasShort = isShort;
            if (isWaiting) commit();
            Lsn durable = log.Durable;
            if (!more)
                Rest(isShort, isWaiting ? s_pause : durable == last ? s_idlePause : durable < last + SlowBytes ? s_slowPause : s_pause);
            last = durable;
        }
    }

    /// <summary>A commit that waits ends it early, but on a full disk: there it would only ask again and again.</summary>
    private void Rest(bool isShort, TimeSpan rest)
    {
        if (isShort) Thread.Sleep(s_shortage);
        else _space.WaitOne(rest);
    }

    private void LogWhether(bool isShort, LogWriter log)
    {
        if (isShort) logger.DiskFull(log.Durable);
        else logger.SpaceReturned();
    }

    private void Guard(Action loop)
    {
        try
        {
            loop();
        }
        catch (FenceLostException lost)
        {
            fail(ExitCodes.NotPrimary, lost.Message);
        }
        catch (IOException e)
        {
            fail(ExitCodes.Io, e.Message);
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _tick.Set();
        _space.Set();
        _fence.Set();
    }
}
