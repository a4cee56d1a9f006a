namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Waits for the first timer of the app to be due and lets the coordinator log it. It has a thread of its own, which sleeps while none
/// waits.
/// </summary>
internal sealed class TimerPump(Coordinator coordinator, Action<int, string> fail, PumpProgress progress) : IDisposable
{
    /// <summary>
    /// The wait goes by a clock that stands while the machine is suspended, and timers do not: behind a suspension they are late by this.
    /// </summary>
    private static readonly TimeSpan s_waitMax = TimeSpan.FromSeconds(1);

    private readonly Parker _parker = new();
    private volatile bool _stopped, _isSet;

    public void Start() => PumpThread.Start("timers", Loop, fail);

    /// <summary>A timer was set that is due before all others, or the app is primary now.</summary>
    public void Wake()
    {
        _isSet = true;
        _parker.Wake();
    }

    private void Loop()
    {
        PumpWork work = progress.Enter("timers");
        while (!_stopped)
        {
            _isSet = false;
            work.Begin();
            TimeSpan next = coordinator.FireTimers();
            work.End();
            _parker.Park(() => _stopped || _isSet, next > s_waitMax ? s_waitMax : next);
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
