using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Writes checkpoints on a thread of its own, so that the app's stream does not wait for the disk.</summary>
internal sealed class CheckpointPump(ReplicaCheckpoints checkpoints, Action<int, string> fail, ILogger logger, PumpProgress progress)
    : IDisposable
{
    private readonly Parker _parker = new();
    private volatile bool _stopped, _asked;

    /// <summary>The refusal that was told last.</summary>
    private string? _refused;

    public void Start() => PumpThread.Start("checkpoint", Loop, fail);

    public void Wake()
    {
        _asked = true;
        _parker.Wake();
    }

    private void Loop()
    {
        PumpWork work = progress.Enter("checkpoint");
        Func<bool> isAwaited = () => _asked || _stopped; // made once: a large image wakes the thread thousands of times
        try
        {
            while (!_stopped)
            {
                _parker.Park(isAwaited, TimeSpan.FromSeconds(1));
                _asked = false;
                Work(work);
            }
        }
        catch (IOException e)
        {
            fail(ExitCodes.Io, $"a checkpoint cannot be written: {e.Message}");
        }
    }

    /// <summary>
    /// Writes what waits, and compares. What the system refuses for now (descriptors, memory, space) costs a checkpoint or a truncation at
    /// most, which the next one makes up for: nobody's acknowledgement hangs on either.
    /// </summary>
    private void Work(PumpWork work)
    {
        try
        {
            do work.Begin(); // each piece by itself: a large image is thousands
            while (!_stopped && checkpoints.Step());
            if (!_stopped) checkpoints.CompareStates();
        }
        catch (IOException refused) when (IFileSystem.IsNotNow(refused))
        {
            if (refused.Message != _refused) logger.CheckpointFailed(refused.Message);
            _refused = refused.Message;
        }
        work.End();
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
