using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// Tells the operator that the app waits because its outputs have no room, and that it goes on: each once it has lasted. The thread that
/// reads the app notes it, the one that ticks logs it.
/// </summary>
internal sealed class OutputBackpressure(OutboxSet outboxes, string directory, TimeProvider time, ILogger logger)
{
    /// <summary>Shorter waits are the back-pressure of every day.</summary>
    internal static readonly TimeSpan LastsMin = TimeSpan.FromSeconds(1);

    private volatile bool _isWaiting;
    private TimeSpan? _changed;
    private bool _isLogged;

    /// <summary>The app waits for room at the moment.</summary>
    public bool IsWaiting => _isWaiting;

    /// <summary>Notes whether a run of the app has to wait, and returns it.</summary>
    public bool Note(bool waits)
    {
        if (_isWaiting != waits) _isWaiting = waits;
        return waits;
    }

    public void Tick()
    {
        if (_isWaiting == _isLogged)
        {
            _changed = null;
            return;
        }
        TimeSpan now = time.GetElapsedTime(0);
        _changed ??= now;
        if (now - _changed < LastsMin) return;
        _isLogged = !_isLogged;
        if (_isLogged) LogWait();
        else logger.OutputsResumed();
    }

    private void LogWait()
    {
        OutboxStatus most = outboxes.InOrder().Select(static outbox => outbox.Status).MaxBy(static status => status.KeptBytes);
        long mebibytes = outboxes.SpilledBytes >> 20;
        if (outboxes.IsFull) logger.OutputsWaitByLimit(mebibytes, most.Destination, directory);
        else logger.OutputsWaitForDisk(mebibytes, most.Destination, directory);
    }
}
