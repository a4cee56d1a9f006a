using System.Net.Sockets;
using Ambrosia.Coordinator.Replica;
using CRA.Links;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Starts the threads that this process cannot go on without, and ends the process by an exit code and its line where one of them meets
/// what it does not handle. No thread of a pump leaves an exception to the runtime, which would end the process without either. Any thread.
/// </summary>
internal static class PumpThread
{
    /// <summary>The system has no thread to give for so long before the process ends: another start may have more luck.</summary>
    internal static readonly TimeSpan PatienceMax = TimeSpan.FromSeconds(30);

    private static readonly TimeSpan s_again = TimeSpan.FromMilliseconds(100);

    /// <summary>Starts a pump. Where the system has no thread to give, it waits for one.</summary>
    /// <param name="fail">Ends the process.</param>
    public static void Start(string name, Action loop, Action<int, string> fail)
    {
        long begun = Environment.TickCount64;
        while (TryStart(name, loop, fail) is null)
        {
            if (Environment.TickCount64 - begun > PatienceMax.TotalMilliseconds)
            {
                fail(ExitCodes.System,
                    $"the system has given out no thread for '{name}' within {PatienceMax.TotalSeconds:0} s. Raise the limit of processes (ulimit -u, or TasksMax and pids.max of the service), or free memory.");
                return;
            }
            Thread.Sleep(s_again);
        }
    }

    /// <summary>Starts a pump once, and returns its thread, or null if the system has none to give now.</summary>
    /// <param name="fail">Ends the process.</param>
    public static Thread? TryStart(string name, Action loop, Action<int, string> fail) =>
        Threads.TryStart(name, loop, fatal => End(fatal, name, fail));

    /// <summary>Runs a pump on this thread; whatever leaves it ends the process by an exit code.</summary>
    public static void Guard(string name, Action loop, Action<int, string> fail) => Threads.Guard(loop, fatal => End(fatal, name, fail));

    private static void End(Exception fatal, string name, Action<int, string> fail)
    {
        (int code, string why) = fatal is SocketException refused
            ? (ExitCodes.System, $"the system gives out no socket that can be used: {refused.Message}") : ExitCodes.Ending(fatal, name);
        fail(code, why);
    }
}
