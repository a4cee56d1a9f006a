using Ambrosia;

namespace ImmortalWeb._1;

/// <summary>The contract of the immortal, for callers inside and outside alike. A new method may be added at any time.</summary>
public interface ICounters
{
    /// <summary>Adds to a counter, which begins at 0.</summary>
    /// <returns>The new value.</returns>
    long Add(string counter, long amount);

    /// <summary>Returns the value of a counter. A query leaves no trace in the log.</summary>
    [Query]
    long Read(string counter);
}
