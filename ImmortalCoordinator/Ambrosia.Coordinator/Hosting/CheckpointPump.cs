using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Format;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Writes checkpoints on a thread of its own, so that the app's stream does not wait for the disk.</summary>
internal sealed class CheckpointPump(ReplicaCheckpoints checkpoints, Action<int, string> fail, PumpProgress progress) : IDisposable
{
    private readonly Parker _parker = new();
    private volatile bool _stopped, _asked;

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
                do work.Begin(); // each piece by itself: a large image is thousands
                while (!_stopped && checkpoints.Step());
                if (!_stopped) checkpoints.CompareStates();
                work.End();
            }
        }
        catch (DivergenceException divergence)
        {
            fail(ExitCodes.Divergence, divergence.Message);
        }
        catch (IOException e)
        {
            fail(ExitCodes.Io, $"a checkpoint cannot be written: {e.Message}");
        }
        catch (FenceLostException lost)
        {
            fail(ExitCodes.NotPrimary, lost.Message);
        }
        catch (LogDamage e)
        {
            fail(ExitCodes.Io, $"a checkpoint was written and does not read back: {e.Message}");
        }
    }

    public void Dispose()
    {
        _stopped = true;
        _parker.Wake();
    }
}
