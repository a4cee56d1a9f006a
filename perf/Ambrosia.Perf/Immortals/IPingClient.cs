namespace Ambrosia.Perf;

/// <summary>What the driver and the client itself ask of the client of <c>ping</c>.</summary>
public interface IPingClient
{
    /// <summary>Makes <paramref name="calls"/> awaited calls, one after another.</summary>
    [ImpulseHandler]
    Call Ping(int round, int calls);

    /// <summary>Makes <paramref name="calls"/> awaited calls with so many under way at a time.</summary>
    [ImpulseHandler]
    void Crowd(int round, int calls, int outstanding);

    /// <summary>One caller of the crowd: its share of the calls, one after another.</summary>
    [MethodId(1)]
    Call Share(int calls);

    /// <summary>One call of an open loop; <paramref name="intended"/> is the monotonic clock's when it was to be made.</summary>
    [ImpulseHandler]
    Call Ask(long intended);

    /// <summary>An open loop of <paramref name="calls"/> calls follows.</summary>
    [ImpulseHandler]
    void Open(int round, int calls);
}
