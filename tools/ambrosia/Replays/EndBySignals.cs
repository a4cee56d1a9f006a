using System.Runtime.InteropServices;

namespace Ambrosia.Tools.Replays;

/// <summary>Lets a command that would go on for ever end in order when it is asked to, by Ctrl-C or SIGTERM.</summary>
internal sealed class EndBySignals : IDisposable
{
    private readonly CancellationTokenSource _stop;
    private readonly PosixSignalRegistration _interrupt, _terminate;

    public EndBySignals(CancellationTokenSource stop)
    {
        _stop = stop;
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, End);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, End);
    }

    private void End(PosixSignalContext signal)
    {
        signal.Cancel = true;
        _stop.Cancel();
    }

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
    }
}
