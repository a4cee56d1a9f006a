namespace Ambrosia.Schedules;

/// <summary>
/// Lets one thread go on each time that it is passed. Who waits does not spin, as a semaphore's waiters do at first: only one thread has
/// anything to do, and where other processes want the processors, spinning is most of what would be done.
/// </summary>
internal sealed class Baton
{
    private readonly object _lock = new();
    private int _passed;

    public void Pass()
    {
        lock (_lock)
        {
            _passed++;
            Monitor.Pulse(_lock);
        }
    }

    /// <summary>Waits until it is passed; false: it was not in time.</summary>
    public bool Await(TimeSpan limit)
    {
        lock (_lock)
        {
            while (_passed == 0)
                if (!Monitor.Wait(_lock, limit)) return false;
            _passed--;
            return true;
        }
    }
}
