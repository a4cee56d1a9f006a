namespace Ambrosia.Binding.Tests;

/// <summary>The paper's example, with the edits of the design and no others.</summary>
public interface ICounter
{
    void Increment();

    void Reset();
}

public interface IMonitor
{
    void Report(int count);
}

public partial class Counter : Immortal<ICounterProxy>, ICounter
{
    private readonly IMonitorProxy monitorProxy;
    private int count;

    public Counter()
    {
        monitorProxy = GetProxy<IMonitor>("mon1");
    }

    public void Reset()
    {
        count = 0;
    }

    public void Increment()
    {
        count++;
        if (count % 1000 == 0)
            monitorProxy.ReportFork(count);
    }
}
