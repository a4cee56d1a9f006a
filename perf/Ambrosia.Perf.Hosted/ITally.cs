namespace Ambrosia.Perf;

/// <summary>Counts what web requests add.</summary>
public interface ITally
{
    /// <returns>The sum behind it.</returns>
    long Add(long amount);
}
