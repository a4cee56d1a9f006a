using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>What happens by the clock: due records, heartbeats to the app, the idle fence check, space ahead of the log's tail.</summary>
internal sealed class BackgroundPump(Coordinator coordinator, Action publish, Action<int, string> fail) : IDisposable
{
    private static readonly TimeSpan tick = TimeSpan.FromMilliseconds(20);
    private const int FenceEvery = 12, HeartbeatEvery = 50, PublishEvery = 250; // in ticks

    private readonly AutoResetEvent stop = new(false);
    private volatile bool stopped;

    public void Start()
    {
        new Thread(() => Guard(TickLoop)) { Name = "ticks", IsBackground = true }.Start();
        new Thread(() => Guard(SpaceLoop)) { Name = "space", IsBackground = true }.Start();
    }

    private void TickLoop()
    {
        Lsn last = Lsn.Zero;
        for (int n = 1; !stopped; n++)
        {
            stop.WaitOne(tick);
            if (coordinator.HasLog)
            {
                Lsn tail = coordinator.Log.Tail;
                coordinator.Tick(isQuiet: tail == last);
                last = tail;
            }
            if (n % FenceEvery == 0) coordinator.CheckFence();
            if (n % HeartbeatEvery == 0) coordinator.Session?.SendHeartbeat();
            if (n % PublishEvery == 0) publish();
        }
    }

    private void SpaceLoop()
    {
        while (!stopped)
            if (!coordinator.HasLog || !coordinator.Log.PrepareSpace()) Thread.Sleep(2);
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
        stopped = true;
        stop.Set();
    }
}
