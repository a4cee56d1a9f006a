using Ambrosia;

namespace ImmortalWeb._1;

/// <summary>
/// The immortal is an ordinary class, and its fields are its state. Each call is logged before it is executed, and handlers are executed
/// one after another. So whatever happens to the process, nothing that was answered is forgotten, and nothing is done twice.
/// </summary>
public sealed partial class Counters : Immortal<ICounters>, ICounters
{
    private readonly SortedDictionary<string, long> _values = new(StringComparer.Ordinal);

    public long Add(string counter, long amount)
    {
        if (amount == 0) throw new ArgumentException("0 changes nothing");
        long value = _values.GetValueOrDefault(counter) + amount;
        Logger.Information($"{counter} is {value}");
        return _values[counter] = value;
    }

    public long Read(string counter) => _values.GetValueOrDefault(counter);
}
