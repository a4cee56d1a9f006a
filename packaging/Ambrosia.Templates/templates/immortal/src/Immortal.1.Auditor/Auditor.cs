using Ambrosia;

namespace Immortal._1;

/// <summary>The auditor remembers what the counter reports. It is an immortal of its own, on another machine if you like.</summary>
public sealed partial class Auditor : Immortal<IAuditor>, IAuditor
{
    private readonly List<long> _heard = [];

    public void Passed(long hundred)
    {
        _heard.Add(hundred);
        Logger.Information($"the counter has passed {hundred}"); // not again when the log is replayed
    }

    public long[] Heard() => [.. _heard];
}
