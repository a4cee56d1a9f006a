namespace Ambrosia.Benchmarks;

/// <summary>Handlers that wait for timers and tasks.</summary>
public interface IWaiters
{
    void Begin(int count);

    void Wait(int count);
}

/// <summary>Each of so many handlers waits for one of them.</summary>
public sealed partial class Waiters : Immortal<IWaitersProxy>, IWaiters
{
    private long _total;

    public void Begin(int count)
    {
        for (int i = 0; i < count; i++) _ = Task();
    }

    public void Wait(int count)
    {
        for (int i = 0; i < count; i++) _ = Timer();
    }

    private async Call Task() => _total += await NondetTask(static () => 42L);

    private async Call Timer()
    {
        await Delay(TimeSpan.Zero);
        _total++;
    }
}
