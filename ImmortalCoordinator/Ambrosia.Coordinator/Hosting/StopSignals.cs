using System.Runtime.InteropServices;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Lets a process that would go on end in order when it is asked to, by SIGTERM or Ctrl-C, for as long as this is there.</summary>
public sealed class StopSignals : IDisposable
{
    private readonly CancellationTokenSource _stop;
    private readonly PosixSignalRegistration _terminate, _interrupt;

    /// <param name="stop">Is cancelled then. Whoever gives it disposes of it, behind this.</param>
    public StopSignals(CancellationTokenSource stop)
    {
        _stop = stop;
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
    }

    private void Stop(PosixSignalContext signal)
    {
        signal.Cancel = true;
        _stop.Cancel();
    }

    public void Dispose()
    {
        _terminate.Dispose();
        _interrupt.Dispose();
    }
}
