using System.Diagnostics;
using Ambrosia.Coordinator.LogFeed;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Drives what happens by the clock: what is due, the idle check of the fence, and space ahead of the log's tail. It has three threads of
/// its own. The one that checks the fence and beats does nothing else, so that whatever hangs elsewhere does not make a primary look as if
/// it hung.
/// </summary>
/// <param name="calls">The calls that other threads may hang in; this one tells of those that do.</param>
/// <param name="garbage">Null: others have a say in this process's memory.</param>
internal sealed class BackgroundPump(
    Coordinator coordinator, BlockingCalls calls, Action commit, Action<int, string> fail, GarbageBound? garbage, PumpProgress progress)
    : IDisposable
{
    private static readonly TimeSpan s_tickEvery = TimeSpan.FromMilliseconds(20), s_rest = TimeSpan.FromMilliseconds(100),
        s_fenceEvery = TimeSpan.FromMilliseconds(240);

    private readonly AutoResetEvent _tick = new(false), _space = new(false), _fence = new(false);
    private volatile bool _stopped;

    /// <summary>It is 1 while the thread that ticks sleeps for longer than a tick.</summary>
    private int _resting;

    public void Start()
    {
        PumpThread.Start("fence", FenceLoop, fail);
        PumpThread.Start("ticks", TickLoop, fail);
        PumpThread.Start("space", SpaceLoop, fail);
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
        PumpWork work = progress.Enter("fence");
        while (!_stopped)
        {
            work.Begin();
            coordinator.CheckFence();
            work.End();
            _fence.WaitOne(s_fenceEvery);
        }
    }

    private void TickLoop()
    {
        var housekeeping = new Housekeeping(coordinator);
        PumpWork work = progress.Enter("ticks");
        while (!_stopped)
        {
            AwaitTick(housekeeping.MayRest);
            work.Begin();
            housekeeping.Step(Stopwatch.GetElapsedTime(0));
            calls.Tick();
            garbage?.Look();
            work.End();
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

    private void SpaceLoop()
    {
        PumpWork work = progress.Enter("space");
        while (!_stopped)
        {
            work.Begin();
            SpaceStep step = coordinator.Space.Step();
            if (step.MustCommit) commit();
            work.End();
            if (step.Rest == TimeSpan.Zero) continue;
            if (step.IsWokenEarly) _space.WaitOne(step.Rest);
            else Thread.Sleep(step.Rest);
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
