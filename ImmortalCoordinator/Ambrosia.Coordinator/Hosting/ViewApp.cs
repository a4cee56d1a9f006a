using System.ComponentModel;
using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// The app's process of a view. Unlike a replica's it is not started again when it ends, unless it is asked to. One thread starts it and
/// waits for it; any thread ends it.
/// </summary>
/// <param name="ended">Hears with which code it has ended; true: it is started again.</param>
/// <param name="fail">Ends the view.</param>
internal sealed class ViewApp(
    IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Func<int, bool> ended, Action<int, string> fail)
    : IDisposable
{
    private static readonly TimeSpan s_grace = TimeSpan.FromSeconds(1);

    /// <summary>The variable that says in which culture .NET begins, on every Unix.</summary>
    public const string CultureVariable = "LC_ALL";

    private readonly RankedLock _gate = new(LockRank.ViewApp);
    private AppProcess? _process;
    private bool _isOver;

    public void Start() => PumpThread.Start("view's app", Loop, fail);

    /// <summary>
    /// Returns the value of <see cref="CultureVariable"/> for a culture. The app executes in that of the log, since texts of numbers and
    /// dates differ with it, and the machine of whoever looks has another one. The invariant culture has no name.
    /// </summary>
    public static string CultureValue(string culture) => culture.Length == 0 ? "C.UTF-8" : $"{culture.Replace('-', '_')}.UTF-8";

    private void Loop()
    {
        while (StartProcess() is { } process)
            if (!ended(process.AwaitEnd())) return;
    }

    private AppProcess? StartProcess()
    {
        var variables = new Dictionary<string, string>(environment)
        {
            ["AMBROSIA_PARENT"] = Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
        };
        try
        {
            using (_gate.Enter()) return _isOver ? null : _process = AppProcess.Start(command, variables);
        }
        catch (Win32Exception e)
        {
            fail(ExitCodes.Misuse, $"cannot start the app '{command[0]}': {e.Message}. Give the program and its arguments behind --.");
            return null;
        }
    }

    /// <summary>
    /// Ends the process, and does not come back before it has ended. A debugger may have stopped it, so it is not asked for long.
    /// </summary>
    public void Dispose()
    {
        AppProcess? process;
        using (_gate.Enter()) (_isOver, process) = (true, _process);
        if (process is null || process.HasEndedWithin(TimeSpan.Zero)) return;
        process.Terminate();
        if (process.HasEndedWithin(s_grace)) return;
        process.Kill();
        process.HasEndedWithin(s_grace);
    }
}
