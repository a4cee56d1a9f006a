namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Tells the links of many outboxes that there is something to send, and so sends it. A thread of its own from the first time on.
/// </summary>
internal sealed class OutputPump(Coordinator coordinator, Action<int, string> fail) : IDisposable
{
    private readonly Parker parker = new();
    private int started;
    private volatile bool stopped;

    /// <summary>Outputs for several wait.</summary>
    public void Wake()
    {
        if (Volatile.Read(ref started) == 0 && Interlocked.Exchange(ref started, 1) == 0)
            new Thread(Loop) { Name = "outputs", IsBackground = true }.Start();
        parker.Wake();
    }

    private void Loop()
    {
        try
        {
            while (!stopped)
            {
                if (!coordinator.TellOutputs()) parker.Park(() => stopped || coordinator.HasOutputs, Timeout.InfiniteTimeSpan);
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
