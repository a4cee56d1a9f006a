using Ambrosia;

namespace Immortal._1;

/// <summary>The contract of the counter. Its proxies are generated in this project, for immortals and for callers outside.</summary>
[Contract]
public interface ICounter
{
    /// <summary>Adds to the counter, which begins at 0.</summary>
    /// <returns>The new value.</returns>
    long Add(long amount);
}
