namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Waits for the first timer of the app to be due and lets the coordinator log it. One thread of its own, asleep while none waits.
/// </summary>
internal sealed class TimerPump(Coordinator coordinator, Action<int, string> fail) : IDisposable
{
    private readonly Parker parker = new();
    private volatile bool stopped, isSet;

    public void Start() => new Thread(Loop) { Name = "timers", IsBackground = true }.Start();

    /// <summary>A timer was set that is due before all others, or the app is primary now.</summary>
    public void Wake()
    {
        isSet = true;
        parker.Wake();
    }

    private void Loop()
    {
        try
        {
            while (!stopped)
            {
                isSet = false;
                TimeSpan next = coordinator.FireTimers();
                parker.Park(() => stopped || isSet, next);
            }
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            fail(code, fatal.Message);
        }
    }

    public void Dispose()
    {
        stopped = true;
        parker.Wake();
    }
}
