namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Tells the links of many outboxes that there is something to send, and so sends it. It has a thread of its own from the first time on
/// that the system gives out one; before, the thread that wakes it tells them.
/// </summary>
/// <param name="tell">Tells all that wait now; false: none did.</param>
/// <param name="hasAny">Some wait.</param>
internal sealed class OutputPump(Func<bool> tell, Func<bool> hasAny, Action<int, string> fail, PumpProgress progress) : IDisposable
{
    private readonly Parker _parker = new();
    private volatile bool _hasThread, _stopped;

    /// <summary>Hears that outputs for several peers wait. The thread that reads the app.</summary>
    public void Wake()
    {
        _hasThread = _hasThread || PumpThread.TryStart("outputs", Loop, fail) is not null;
        if (_hasThread) _parker.Wake();
        else tell(); // what is read from the app would wait for a thread
    }

    private void Loop()
    {
        PumpWork work = progress.Enter("outputs");
        while (!_stopped)
        {
            work.Begin();
            bool isAny = tell();
            work.End();
            if (!isAny) _parker.Park(() => _stopped || hasAny(), Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
