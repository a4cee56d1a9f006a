namespace Ambrosia.Perf;

/// <summary>The driver, and the apps that it has started for it.</summary>
internal static class Program
{
    private static int Main(string[] args) => args switch
    {
        ["app", "stream-end"] => RunApp<StreamEnd>(),
        ["app", "ping-client"] => RunApp<PingClient>(),
        ["app", "ping-server"] => RunApp<PingServer>(),
        ["app", "books"] => RunApp<Books>(),
        ["embedded", "stream-end", .. string[] rest] => RunEmbedded<StreamEnd>(rest),
        ["embedded", "ping-client", .. string[] rest] => RunEmbedded<PingClient>(rest),
        ["embedded", "ping-server", .. string[] rest] => RunEmbedded<PingServer>(rest),
        _ => CommandLine.Run(args),
    };

    private static int RunApp<T>()
        where T : Immortal, IImmortal<T>
    {
        Console.WriteLine($"app {Environment.ProcessId}");
        return AmbrosiaApp.Run<T>([]);
    }

    private static int RunEmbedded<T>(string[] args)
        where T : Immortal, IImmortal<T>
    {
        Console.WriteLine($"app {Environment.ProcessId}");
        return AmbrosiaHost.Run<T>(args);
    }
}
