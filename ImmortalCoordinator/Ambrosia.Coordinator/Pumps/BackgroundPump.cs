using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>What happens by the clock: due records, heartbeats to the app, the idle fence check, space ahead of the log's tail.</summary>
/// <param name="garbage">Null: others have a say in this process's memory.</param>
internal sealed class BackgroundPump(
    Coordinator coordinator, Action<bool> publish, Action commit, Action<int, string> fail, Action<string> say,
    GarbageBound? garbage) : IDisposable
{
    private static readonly TimeSpan tickEvery = TimeSpan.FromMilliseconds(20), rest = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan pause = TimeSpan.FromMilliseconds(2), slowPause = TimeSpan.FromMilliseconds(10),
        idlePause = TimeSpan.FromMilliseconds(100), shortage = TimeSpan.FromMilliseconds(100);

    /// <summary>A log that grew by less during a rest uses up little of the zeros ahead of it before the end of a longer one.</summary>
    private const long SlowBytes = 64 << 10;

    private const int FenceMs = 240, HeartbeatMs = 1000, LookMs = 1000, PublishMs = 5000, LetGoMs = 10_000;

    /// <summary>So many ticks after the last record the log has its mark, and nothing is left to do.</summary>
    private const int QuietTicks = 3;

    private readonly AutoResetEvent tick = new(false), space = new(false);
    private volatile bool stopped;

    /// <summary>1: the thread that ticks sleeps for longer than a tick.</summary>
    private int resting;

    public void Start()
    {
        new Thread(() => Guard(TickLoop)) { Name = "ticks", IsBackground = true }.Start();
        new Thread(() => Guard(SpaceLoop)) { Name = "space", IsBackground = true }.Start();
    }

    /// <summary>Space for the log is waited for. Any thread.</summary>
    public void PrepareSpaceNow() => space.Set();

    /// <summary>
    /// Something has come in: what follows from it is looked after in ticks again. Any thread; a look at a flag while ticks go on.
    /// </summary>
    public void Stir()
    {
        if (Volatile.Read(ref resting) != 0 && Interlocked.Exchange(ref resting, 0) != 0) tick.Set();
    }

    private void TickLoop()
    {
        Lsn last = Lsn.Zero;
        long now = Environment.TickCount64;
        var (fence, heartbeat, look, publication, letGo) = (now, now, now, now, now);
        for (int quiet = 0; !stopped;)
        {
            AwaitTick(isResting: quiet > QuietTicks && !coordinator.Queries.IsAwaited);
            now = Environment.TickCount64;
            coordinator.Queries.Tick();
            garbage?.Look();
            coordinator.OutputWait.Tick();
            if (coordinator.HasLog)
            {
                Lsn tail = coordinator.Log.Tail;
                quiet = tail == last ? quiet + 1 : 0;
                coordinator.Tick(isQuiet: tail == last);
                last = tail;
            }
            if (IsDue(ref fence, FenceMs, now)) coordinator.CheckFence();
            if (IsDue(ref heartbeat, HeartbeatMs, now)) coordinator.Session?.SendHeartbeat();
            if (IsDue(ref look, LookMs, now)) publish(IsDue(ref publication, PublishMs, now));
            if (IsDue(ref letGo, LetGoMs, now)) coordinator.LetGoOfLog();
        }
    }

    /// <summary>
    /// A wake-up in an idle process costs a tenth of a millisecond: one that has nothing to do sleeps longer, unless it is stirred.
    /// </summary>
    private void AwaitTick(bool isResting)
    {
        if (isResting) Interlocked.Exchange(ref resting, 1);
        tick.WaitOne(isResting ? rest : tickEvery);
        Volatile.Write(ref resting, 0);
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
        while (!stopped)
        {
            if (!coordinator.HasLog)
            {
                space.WaitOne(idlePause);
                continue;
            }
            LogWriter log = coordinator.Log;
            bool isWaiting = log.IsAwaitingSpace, more = log.PrepareSpace(), isShort = log.IsSpaceShort;
            if (isShort != wasShort) SayWhether(isShort, log);
            wasShort = isShort;
            if (isWaiting) commit();
            Lsn durable = log.Durable;
            if (!more) Rest(isShort, isWaiting ? pause : durable == last ? idlePause : durable < last + SlowBytes ? slowPause : pause);
            last = durable;
        }
    }

    /// <summary>A commit that waits ends it early, but on a full disk: there it would only ask again and again.</summary>
    private void Rest(bool isShort, TimeSpan rest)
    {
        if (isShort) Thread.Sleep(shortage);
        else space.WaitOne(rest);
    }

    private void SayWhether(bool isShort, LogWriter log) => say(isShort
        ? $"THE LOG'S DISK IS FULL: nothing is lost, but inputs wait from Lsn {log.Durable} on until there is space again"
        : "there is space for the log again; work goes on");

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
        stopped = true;
        tick.Set();
        space.Set();
    }
}
