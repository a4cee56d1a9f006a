namespace Ambrosia.Coordinator.Pumps;

/// <summary>Writes checkpoints, so that the app's stream does not wait for the disk.</summary>
internal sealed class CheckpointPump(CheckpointTaker taker, Action compare, Action<int, string> fail) : IDisposable
{
    private readonly Parker parker = new();
    private volatile bool stopped, asked;

    public void Start() => new Thread(Loop) { Name = "checkpoint", IsBackground = true }.Start();

    public void Wake()
    {
        asked = true;
        parker.Wake();
    }

    private void Loop()
    {
        Func<bool> isAwaited = () => asked || stopped; // made once: a large image wakes the thread thousands of times
        try
        {
            while (!stopped)
            {
                parker.Park(isAwaited, TimeSpan.FromSeconds(1));
                asked = false;
                while (!stopped && taker.Step()) { }
                if (!stopped) compare();
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
        catch (Log.FenceLostException lost)
        {
            fail(ExitCodes.NotPrimary, lost.Message);
        }
        catch (Log.LogDamage e)
        {
            fail(ExitCodes.Io, $"a checkpoint was written and does not read back: {e.Message}");
        }
    }

    public void Dispose()
    {
        stopped = true;
        parker.Wake();
    }
}
