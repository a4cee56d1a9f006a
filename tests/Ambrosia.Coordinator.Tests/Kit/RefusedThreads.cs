using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Refuses threads of a name as a system does at its limit, until it is disposed. Tests that start threads of that name meanwhile must be
/// of the same class.
/// </summary>
internal sealed class RefusedThreads : IDisposable
{
    private static readonly Lock s_gate = new();
    private static readonly List<Predicate<string>> s_refused = [];
    private readonly Predicate<string> _refuses;

    private RefusedThreads(Predicate<string> refuses)
    {
        _refuses = refuses;
        lock (s_gate) s_refused.Add(refuses);
        Threads.Refuses = static name => { lock (s_gate) return s_refused.Exists(refuses => refuses(name)); };
    }

    public static RefusedThreads Named(string name) => new(each => each == name);

    public void Dispose()
    {
        lock (s_gate) s_refused.Remove(_refuses);
    }
}
