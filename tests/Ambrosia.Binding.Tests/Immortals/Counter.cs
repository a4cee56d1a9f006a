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
    private readonly IMonitorProxy _monitorProxy;
    private int _count;

    public Counter()
    {
        _monitorProxy = GetProxy<IMonitor>("mon1");
    }

    public void Reset()
    {
        _count = 0;
    }

    public void Increment()
    {
        _count++;
        if (_count % 1000 == 0)
            _monitorProxy.ReportFork(_count);
    }
}
