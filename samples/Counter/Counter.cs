using System.Runtime.Serialization;
using Ambrosia;

namespace CounterSample;

/// <summary>The paper's, §4.2, with two edits: <c>Immutable</c> is called <c>Immortal</c>, and the class is partial.</summary>
[DataContract]
partial class Counter : Immortal<ICounterProxy>, ICounter
{
    [DataMember] int count;
    [DataMember] IMonitorProxy monitorProxy;

    public Counter()
    {
        monitorProxy = GetProxy<IMonitor>("mon1");
    }

    public void Reset() { count = 0; }

    public void Increment()
    {
        count++;
        if (count % 1000 == 0)
            monitorProxy.ReportFork(count);
    }
}
