using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>What happens by the clock: due records, heartbeats to the app, the idle fence check, space ahead of the log's tail.</summary>
/// <param name="garbage">Null: others have a say in this process's memory.</param>
internal sealed class BackgroundPump(Coordinator coordinator, Action<bool> publish, Action commit, Action<int, string> fail, Action<string> say, GarbageBound? garbage) : IDisposable
{
    private static readonly TimeSpan tick = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan pause = TimeSpan.FromMilliseconds(2), slowPause = TimeSpan.FromMilliseconds(10), idlePause = TimeSpan.FromMilliseconds(100), shortage = TimeSpan.FromMilliseconds(100);

    /// <summary>A log that grew by less during a rest uses up little of the zeros ahead of it before the end of a longer one.</summary>
    private const long SlowBytes = 64 << 10;

    private const int FenceEvery = 12, HeartbeatEvery = 50, LookEvery = 50, PublishEvery = 250, LetGoEvery = 500; // in ticks

    private readonly AutoResetEvent stop = new(false), space = new(false);
    private volatile bool stopped;

    public void Start()
    {
        new Thread(() => Guard(TickLoop)) { Name = "ticks", IsBackground = true }.Start();
        new Thread(() => Guard(SpaceLoop)) { Name = "space", IsBackground = true }.Start();
    }

    /// <summary>Space for the log is waited for. Any thread.</summary>
    public void PrepareSpaceNow() => space.Set();

    private void TickLoop()
    {
        Lsn last = Lsn.Zero;
        for (int n = 1; !stopped; n++)
        {
            stop.WaitOne(tick);
            coordinator.Queries.Tick();
            garbage?.Look();
            coordinator.OutputWait.Tick();
            if (coordinator.HasLog)
            {
                Lsn tail = coordinator.Log.Tail;
                coordinator.Tick(isQuiet: tail == last);
                last = tail;
            }
            if (n % FenceEvery == 0) coordinator.CheckFence();
            if (n % HeartbeatEvery == 0) coordinator.Session?.SendHeartbeat();
            if (n % LookEvery == 0) publish(n % PublishEvery == 0);
            if (n % LetGoEvery == 0) coordinator.LetGoOfLog();
        }
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
        stop.Set();
        space.Set();
    }
}
