using Ambrosia;

namespace CounterSample;

/// <summary>Prints what the counter reports. The paper leaves this class to the reader.</summary>
partial class Monitor : Immortal<IMonitorProxy>, IMonitor
{
    int _reports;

    // A restarted monitor runs the handlers of its log again and prints again: each line says where things stand, so no harm is done.
    public void Report(int count) => Console.WriteLine($"report {++_reports}: the count is {count}");
}
