namespace Ambrosia.Schedules.Shims;

/// <summary>Stands for <see cref="System.Threading.SpinWait"/>: who spins waits until another thread has taken a step.</summary>
public struct SpinWait
{
    public int Count { get; private set; }

    public readonly bool NextSpinWillYield => true;

    public void SpinOnce()
    {
        Count++;
        Scheduler.Spin();
    }

    public void SpinOnce(int sleep1Threshold) => SpinOnce();

    public void Reset() => Count = 0;
}
