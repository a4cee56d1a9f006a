using Ambrosia;

namespace Immortal._1;

/// <summary>
/// The counter is an ordinary class, and its fields are its state. Each call is logged before it is executed. So whatever happens to the
/// process, nothing that was answered is forgotten, and nothing is done twice.
/// </summary>
public sealed partial class Counter : Immortal<ICounter>, ICounter
{
    private readonly IAuditorProxy _auditor;
    private long _value;

    public Counter() => _auditor = GetProxy<IAuditor>("auditor");

    public long Add(long amount)
    {
        if (amount <= 0) throw new ArgumentException($"{amount} is not added");
        long before = _value;
        _value += amount;
        for (long hundred = before / 100 + 1; hundred <= _value / 100; hundred++)
            _auditor.PassedFork(hundred * 100); // arrives once, and nobody waits for it
        return _value;
    }
}
