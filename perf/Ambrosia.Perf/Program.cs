namespace Ambrosia.Perf;

/// <summary>The driver, and the apps that it has started for it.</summary>
internal static class Program
{
    private static int Main(string[] args) => args switch
    {
        ["app", "stream-end"] => RunApp<StreamEnd>(),
        ["app", "ping-client"] => RunApp<PingClient>(),
        ["app", "ping-server"] => RunApp<PingServer>(),
        _ => CommandLine.Run(args),
    };

    private static int RunApp<T>()
        where T : Immortal, IImmortal<T>
    {
        Console.WriteLine($"app {Environment.ProcessId}");
        return AmbrosiaApp.Run<T>([]);
    }
}
