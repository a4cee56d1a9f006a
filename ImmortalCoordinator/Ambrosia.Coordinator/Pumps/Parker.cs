namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Where one thread waits for others to give it work. A wake is never lost: the waker makes the work visible and then reads the flag,
/// the parker sets the flag and then looks for work.
/// </summary>
internal sealed class Parker : IDisposable
{
    private readonly AutoResetEvent wake = new(false);
    private int parked;

    public void Wake()
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref parked) != 0 && Interlocked.Exchange(ref parked, 0) != 0) wake.Set();
    }

    /// <summary>Waits until woken or the time is over, unless <paramref name="hasWork"/> says otherwise after the flag is up.</summary>
    public void Park(Func<bool> hasWork, TimeSpan limit)
    {
        Interlocked.Exchange(ref parked, 1);
        if (!hasWork()) wake.WaitOne(limit);
        Volatile.Write(ref parked, 0);
    }

    public void Dispose() => wake.Dispose();
}
