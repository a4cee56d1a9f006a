using System.Runtime.InteropServices;
using Ambrosia.Pumps;

namespace Ambrosia;

/// <summary>Runs an app: its main program is <c>return AmbrosiaApp.Run&lt;Counter&gt;(args);</c>.</summary>
public static partial class AmbrosiaApp
{
    /// <summary>
    /// True where the log is executed for somebody who looks at the past (<c>ImmortalCoordinator debug</c>), and nothing of what the app
    /// does gets out. It is for the code around the immortal, which may leave its servers closed then; handlers must not ask, since they
    /// would do other things than they did.
    /// </summary>
    public static bool IsView => AppHost.IsViewOf(Environment.GetEnvironmentVariable) || AppHost.HasViewed;

    /// <summary>
    /// Runs the immortal until its app channel ends, and then ends the process: an app lives no longer than its coordinator lets it.
    /// The coordinator is found by <c>AMBROSIA_APP</c> (<c>unix:PATH</c> or <c>tcp:PORT</c>) and the token file named by
    /// <c>AMBROSIA_TOKEN</c>; <c>ImmortalCoordinator … -- APP</c> sets both. The calling thread runs all handlers.
    /// </summary>
    /// <param name="args">The command line; the binding takes nothing from it.</param>
    /// <remarks>
    /// If a handler does not come back within 2 s of the channel's end, the process ends with 74 in the middle of it.
    /// </remarks>
    /// <returns>The exit code: 0 clean stop, 1 the app failed, 2 misuse, 70 divergence, 74 the channel broke.</returns>
    public static int Run<TImmortal>(string[] args)
        where TImmortal : Immortal, IImmortal<TImmortal>
    {
        ArgumentNullException.ThrowIfNull(args);
        var host = new AppHost(
            ImmortalDefinition.Of<TImmortal>(), AwaitCheck.Faults, Environment.GetEnvironmentVariable,
            static line => Console.Error.WriteLine(line), TimeProvider.System, Abandon);
        int code = host.Run();
        Console.Out.Flush();
        Console.Error.Flush();
        // Threads that the immortal started must not keep a process alive that has no coordinator.
        if (code != AppHost.Misuse) Environment.Exit(code);
        return code;
    }

    /// <summary>Ends the process, at the latest after a second: what runs at its end may hang as the handler does.</summary>
    private static void Abandon(int code)
    {
        new Thread(() => Environment.Exit(code)) { IsBackground = true }.Start();
        Thread.Sleep(TimeSpan.FromSeconds(1));
        ExitNow(code);
    }

    [LibraryImport("libc", EntryPoint = "_exit")]
    private static partial void ExitNow(int code);
}
