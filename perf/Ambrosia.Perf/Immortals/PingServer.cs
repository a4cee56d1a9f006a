namespace Ambrosia.Perf;

/// <summary>The answering end of <c>ping</c>.</summary>
public sealed partial class PingServer : Immortal<IPingServerProxy>, IPingServer
{
    public long Echo(long number) => number;
}
