namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Tells the links of many outboxes that there is something to send, and so sends it. It has a thread of its own from the first time on.
/// </summary>
internal sealed class OutputPump(Coordinator coordinator, Action<int, string> fail, PumpProgress progress) : IDisposable
{
    private readonly Parker _parker = new();
    private int _started;
    private volatile bool _stopped;

    /// <summary>Hears that outputs for several peers wait.</summary>
    public void Wake()
    {
        if (Volatile.Read(ref _started) == 0 && Interlocked.Exchange(ref _started, 1) == 0)
            PumpThread.Start("outputs", Loop, fail);
        _parker.Wake();
    }

    private void Loop()
    {
        PumpWork work = progress.Enter("outputs");
        while (!_stopped)
        {
            work.Begin();
            bool isAny = coordinator.Links.Admission.TellOutputs();
            work.End();
            if (!isAny)
                _parker.Park(() => _stopped || coordinator.Links.Admission.HasOutputs, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
