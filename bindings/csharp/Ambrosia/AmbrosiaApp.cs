using System.Runtime.InteropServices;
using Ambrosia.Pumps;
using Ambrosia.Session;
using Ambrosia.Tasks;

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
        return Run(ImmortalDefinition.Of<TImmortal>(), former: null);
    }

    /// <summary>
    /// Runs the immortal as the other overload does, for an upgrade: while the log is of the version before, the former class executes its
    /// records, and where the log has the upgrade, the new one takes over what the former one holds.
    /// <c>ImmortalCoordinator … --upgrade-to N</c> makes the upgrade; without it this app goes on as what the log is of.
    /// </summary>
    /// <typeparam name="TFormer">
    /// The class of the version before, with its handlers as they were. Its version is what <see cref="AppVersionAttribute"/> at the class
    /// says, or else the one below that of <typeparamref name="TImmortal"/>.
    /// </typeparam>
    /// <typeparam name="TImmortal">
    /// The class of the new version. It has a constructor that takes a <typeparamref name="TFormer"/> and is a function of that state
    /// alone: what it sends, waits for or begins is refused, and belongs into <see cref="Immortal.OnUpgraded"/>.
    /// </typeparam>
    /// <param name="args">The command line; the binding takes nothing from it.</param>
    /// <returns>The exit code: 0 clean stop, 1 the app failed, 2 misuse, 70 divergence, 74 the channel broke.</returns>
    public static int Run<TFormer, TImmortal>(string[] args)
        where TFormer : Immortal, IImmortal<TFormer>
        where TImmortal : Immortal, IImmortal<TImmortal>
    {
        ArgumentNullException.ThrowIfNull(args);
        return Run(ImmortalDefinition.Of<TImmortal>(), FormerVersion.Of<TFormer, TImmortal>);
    }

    private static int Run(ImmortalDefinition definition, Func<FormerVersion>? former)
    {
        int code = NewHost(definition, WholeLines.OfErrors.Write, former, null, null).Run();
        Console.Out.Flush();
        Console.Error.Flush();
        // Threads that the immortal started must not keep a process alive that has no coordinator.
        if (code != AppHost.Misuse) Environment.Exit(code);
        return code;
    }

    /// <summary>Makes what runs the app of this process, for a coordinator that the environment names.</summary>
    internal static AppHost NewHost(
        ImmortalDefinition definition, Action<string> log, Func<FormerVersion>? former, HostServices? services,
        Action<ImmortalLogLevel, string>? linesOfImmortal) =>
        new(definition, AwaitCheck.Faults, Environment.GetEnvironmentVariable, log, TimeProvider.System, Abandon)
        {
            Former = former, Services = services, LinesOfImmortal = linesOfImmortal,
        };

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
