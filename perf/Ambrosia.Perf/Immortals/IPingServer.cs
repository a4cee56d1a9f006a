namespace Ambrosia.Perf;

/// <summary>What the client of <c>ping</c> asks of the server.</summary>
public interface IPingServer
{
    /// <summary>Gives back what it gets.</summary>
    [MethodId(1)]
    long Echo(long number);
}
