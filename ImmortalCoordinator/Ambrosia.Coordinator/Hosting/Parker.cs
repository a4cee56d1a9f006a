using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Lets one thread wait until others give it work. A wake is never lost: the waker makes the work visible and then reads the flag, the
/// parker sets the flag and then looks for work.
/// </summary>
internal sealed class Parker : IDisposable
{
    private readonly AutoResetEvent _wake = new(false);
    private int _parked;

    public void Wake()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _parked) != 0 && Interlocked.Exchange(ref _parked, 0) != 0) _wake.Set();
    }

    /// <summary>Waits until woken or the time is over, unless <paramref name="hasWork"/> says otherwise after the flag is up.</summary>
    public void Park(Func<bool> hasWork, TimeSpan limit)
    {
        LockChecks.BeforeWait();
        Interlocked.Exchange(ref _parked, 1);
        if (!hasWork()) _wake.WaitOne(limit);
        Volatile.Write(ref _parked, 0);
    }

    public void Dispose() => _wake.Dispose();
}
