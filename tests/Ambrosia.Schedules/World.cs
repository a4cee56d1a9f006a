namespace Ambrosia.Schedules;

/// <summary>Real parts, the threads that use them, and the oracle that judges when these have come to rest.</summary>
public abstract class World : IDisposable
{
    /// <summary>The threads beside those that the parts start themselves. Each must end.</summary>
    public List<(string Name, Action Body)> Threads { get; } = [];

    /// <summary>Throws if what should have happened has not. No thread runs; those of the background stand where they wait.</summary>
    public abstract void Check();

    public virtual void Dispose() => GC.SuppressFinalize(this);
}
