using Ambrosia;

namespace CounterSample;

/// <summary>Says what the counter reports. The paper leaves it to the reader.</summary>
partial class Monitor : Immortal<IMonitorProxy>, IMonitor
{
    int reports;

    // A restarted monitor runs the handlers of its log again and prints again: each line says where things stand, so no harm is done.
    public void Report(int count) => Console.WriteLine($"report {++reports}: the count is {count}");
}
