using System.Runtime.Serialization;
using Ambrosia;

namespace CounterSample;

/// <summary>
/// This is the class of the paper, §4.2, with two edits: <c>Immutable</c> is called <c>Immortal</c>, and the class is partial.
/// </summary>
[DataContract]
partial class Counter : Immortal<ICounterProxy>, ICounter
{
    [DataMember] int _count;
    [DataMember] IMonitorProxy _monitorProxy;

    public Counter()
    {
        _monitorProxy = GetProxy<IMonitor>("mon1");
    }

    public void Reset() { _count = 0; }

    public void Increment()
    {
        _count++;
        if (_count % 1000 == 0)
            _monitorProxy.ReportFork(_count);
    }
}
