namespace Ambrosia.Perf;

/// <summary>What the driver asks of the client of <c>ping</c>.</summary>
public interface IPingClient
{
    /// <summary>Makes <paramref name="calls"/> awaited calls, one after another.</summary>
    [ImpulseHandler]
    Call Ping(int round, int calls);
}
