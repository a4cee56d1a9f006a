using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Starts the app and starts it again when it ends, with backoff. An app that dies again and again at the same record is reported with
/// that record's Lsn: it is what a debugger should look at. One that ends with the code for misuse is not started again:
/// neither is the coordinator. A program that the system does not start counts as misuse before the app has run; behind that it is a death
/// of the app like others, since programs are replaced and limits met while coordinators run, unless it lasts.
/// The app lives no longer than this process: <see cref="End"/> ends it, and its binding does where this process is killed. One
/// thread starts the app and waits for it, and does not end before it.
/// </summary>
/// <param name="incidents">Hears with which code the app has ended, before it is started again.</param>
internal sealed class AppSupervisor(
    AppCommand command, Func<Lsn> executed, IncidentJournal incidents, ILogger logger, Action<int, string> fail) : IDisposable
{
    private const int SameRecordMax = 5;
    private static readonly TimeSpan s_delayMax = TimeSpan.FromSeconds(5), s_settled = TimeSpan.FromSeconds(5);

    /// <summary>An app whose session was ended has so long to end by itself; then one that was asked to has so long.</summary>
    internal static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_afterTerminate = TimeSpan.FromSeconds(1);

    /// <summary>An app that was refused may end before its coordinator does for that reason, which has so long to say it.</summary>
    private static readonly TimeSpan s_refusalMax = TimeSpan.FromSeconds(1);

    /// <summary>The app executes the log; otherwise its death says nothing of a record.</summary>
    public Func<bool> IsLive { get; init; } = static () => true;

    /// <summary>Hears with which code the app that executes the log ended; true: bodies of tasks ran, so that it was no record.</summary>
    public Func<int, bool> BodiesRan { get; init; } = static _ => false;

    /// <summary>The app has executed all that it was given, and has said so.</summary>
    public Func<bool> HasExecutedAll { get; init; } = static () => false;

    private readonly CancellationTokenSource _stop = new();
    private readonly RankedLock _gate = new(LockRank.AppSupervisor);

    /// <summary>The app that runs, or has run last; null: none has. Guarded by the lock; the supervisor's thread writes it.</summary>
    private AppProcess? _process;

    /// <summary>The app cannot be started since then; null: it can. The supervisor's thread uses it.</summary>
    private long? _unstartable;

    public void Start() => PumpThread.Start("supervisor", Loop, fail);

    private void Loop()
    {
        TimeSpan delay = TimeSpan.Zero;
        Lsn furthest = Lsn.Zero;
        int same = 0, beside = 0;
        while (!_stop.IsCancellationRequested)
        {
            long begun = Stopwatch.GetTimestamp();
            if (Launch() is not { } process)
            {
                if (_stop.IsCancellationRequested) return;
                delay = Longer(delay);
                _stop.Token.WaitHandle.WaitOne(delay);
                continue;
            }
            int code = process.AwaitEnd();
            if (code > Incident.EndedBySignal) RuntimeFiles.RemoveIfEnded(process.Id, Path.GetTempPath());
            if (_stop.IsCancellationRequested) return;
            if (code == ExitCodes.Misuse)
            {
                if (_stop.Token.WaitHandle.WaitOne(s_refusalMax)) return;
                fail(ExitCodes.Misuse,
                    "the app ended with code 2: it refuses to run as it is, and starting it again would not help; its own lines say why");
                return;
            }
            bool isLive = IsLive();
            if (isLive) incidents.Died(code);
            Lsn at = executed();
            // What it had executed before it died, it has seldom reported to the end, and a new one begins earlier.
            bool isBody = isLive && BodiesRan(code);
            same = !isLive || isBody ? 0 : at <= furthest ? same + 1 : 1;
            beside = same > 0 && HasExecutedAll() ? beside + 1 : 0;
            if (at > furthest) furthest = at;
            delay = Stopwatch.GetElapsedTime(begun) > s_settled ? TimeSpan.Zero : Longer(delay);
            logger.AppEnded(code, at, delay.TotalMilliseconds);
            if (same == SameRecordMax && beside >= same) logger.AppStuckBeside(same, furthest);
            else if (same == SameRecordMax)
            {
                logger.AppStuck(same, furthest);
                incidents.TellDeath(_stop.Token); // no app runs meanwhile
            }
            _stop.Token.WaitHandle.WaitOne(delay);
        }
    }

    private static TimeSpan Longer(TimeSpan delay) =>
        delay == TimeSpan.Zero ? TimeSpan.FromMilliseconds(20) : delay * 2 < s_delayMax ? delay * 2 : s_delayMax;

    /// <summary>Starts the app; null: it cannot be started now, or the process ends, for that reason or another.</summary>
    private AppProcess? Launch()
    {
        // Its binding takes the end of this process for its own as well, if this process is its parent.
        var variables = new Dictionary<string, string>(command.Environment)
        {
            ["AMBROSIA_PARENT"] = Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
        };
        try
        {
            using (_gate.Enter())
            {
                if (_stop.IsCancellationRequested) return null;
                _process = AppProcess.Start(command.Line, variables);
            }
            _unstartable = null;
            return _process;
        }
        catch (Win32Exception e)
        {
            NotStarted(e);
            return null;
        }
    }

    /// <summary>
    /// Says once that the app cannot be started, and goes on where another try may help: what ran out comes back, and a program that ran
    /// before is being replaced. Otherwise the process ends, and at a first start at once.
    /// </summary>
    private void NotStarted(Win32Exception e)
    {
        bool isNotNow = IFileSystem.IsNotNow(e.NativeErrorCode), isFirst = _unstartable is null;
        bool hasRun = _process is not null;
        long since = _unstartable ??= Stopwatch.GetTimestamp();
        if (isNotNow || (hasRun && Stopwatch.GetElapsedTime(since) < command.StartableWithin))
        {
            if (isFirst) logger.AppUnstartable(command.Line[0], e.Message);
            return;
        }
        StartNoMore();
        string howLong = hasRun ? $", for {command.StartableWithin.TotalSeconds:0} s by now" : "";
        fail(ExitCodes.Misuse, $"cannot start the app '{command.Line[0]}': {e.Message}{howLong}. Give the program and its arguments behind --.");
    }

    /// <summary>Ends an app that does not come back; it is started again.</summary>
    public void EndHanging()
    {
        using (_gate.Enter()) _process?.Kill();
    }

    /// <summary>Ends an app that has nothing to do and was told nothing; it is not started again.</summary>
    public void EndNow()
    {
        StartNoMore();
        EndHanging();
    }

    /// <summary>An app that ends from now on is not started again.</summary>
    public void StartNoMore() => _stop.Cancel();

    /// <summary>
    /// Returns what ends the app that runs now, unless it ends by itself within <see cref="Grace"/>; it is started again. Null: none runs.
    /// </summary>
    public Action? Replacement()
    {
        AppProcess? process;
        using (_gate.Enter()) process = _process;
        return process is null ? null : () => End(process);
    }

    /// <summary>
    /// Ends the app, whose session was told to end: one that does not end by itself is asked to by SIGTERM, and then gets SIGKILL. It waits
    /// until the app is gone.
    /// </summary>
    public void End()
    {
        StartNoMore();
        AppProcess? process;
        using (_gate.Enter()) process = _process;
        if (process is not null) End(process);
    }

    private static void End(AppProcess process)
    {
        if (process.HasEndedWithin(Grace)) return;
        process.Terminate();
        if (process.HasEndedWithin(s_afterTerminate)) return;
        process.Kill();
        process.HasEndedWithin(s_afterTerminate); // one in the middle of a call of the system may end later
    }

    public void Dispose() => End();
}

/// <summary>Is what an app is started with.</summary>
/// <param name="Line">The program and its arguments.</param>
/// <param name="Environment">What stands over the environment of this process.</param>
internal sealed record AppCommand(IReadOnlyList<string> Line, IReadOnlyDictionary<string, string> Environment)
{
    /// <summary>A program that has run, and cannot be started for so long, will not be by itself.</summary>
    public TimeSpan StartableWithin { get; init; } = TimeSpan.FromSeconds(60);
}
