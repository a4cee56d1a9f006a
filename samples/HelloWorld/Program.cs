using Ambrosia;
using HelloWorld.Orchestration;

namespace HelloWorld;

/// <summary>
/// The entry of three programs in one: the two apps, which their coordinators start, and the program that a user starts, which runs them
/// all and kills them.
/// </summary>
internal static class Program
{
    private static int Main(string[] args) => args switch
    {
        ["app", "server"] => RunApp<HelloServer>(),
        ["app", "client"] => RunApp<HelloClient>(),
        _ => CommandLine.Run(args),
    };

    private static int RunApp<T>()
        where T : Immortal, IImmortal<T>
    {
        Console.WriteLine($"app {Environment.ProcessId}");
        return AmbrosiaApp.Run<T>([]);
    }
}
