using Microsoft.Extensions.Hosting;

namespace Ambrosia.Perf;

/// <summary>
/// Programs with a host of .NET that Ambrosia.Perf measures: <c>web</c> and <c>web-plain</c>, which is the same without us, and
/// <c>stream-end INSTANCE</c>. What follows is for the host's configuration.
/// </summary>
internal static class Program
{
    private const int Misuse = 2;

    private static int Main(string[] args)
    {
        switch (args)
        {
            case ["web" or "web-plain", .. string[] rest]:
                WebProgram.Build(args[0] == "web", rest).Run();
                return 0;
            case ["stream-end", string instance, .. string[] rest]:
                Console.WriteLine($"app {Environment.ProcessId}");
                StreamProgram.Build(instance, rest).Run();
                return 0;
            default:
                Console.Error.WriteLine("Ambrosia.Perf starts this program: web, web-plain, or stream-end INSTANCE.");
                return Misuse;
        }
    }
}
