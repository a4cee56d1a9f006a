using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Starts the app and starts it again when it ends, with backoff. An app that dies again and again at the same record is reported with
/// that record's Lsn: it is what a debugger should look at. One that ends with the code for misuse is not started again:
/// neither is the coordinator. The app lives no longer than this process: <see cref="End"/> ends it, and its binding does where this
/// process is killed. One thread starts the app and waits for it, and does not end before it.
/// </summary>
/// <param name="incidents">Hears with which code the app has ended, before it is started again.</param>
internal sealed class AppSupervisor(
    IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Func<Lsn> executed, IncidentJournal incidents,
    ILogger logger, Action<int, string> fail) : IDisposable
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

    private readonly CancellationTokenSource _stop = new();
    private readonly RankedLock _gate = new(LockRank.AppSupervisor);

    /// <summary>The app that runs; null: none does. Guarded by the lock.</summary>
    private AppProcess? _process;

    public void Start() => new Thread(Loop) { Name = "supervisor", IsBackground = true }.Start();

    private void Loop()
    {
        TimeSpan delay = TimeSpan.Zero;
        Lsn furthest = Lsn.Zero;
        int same = 0;
        while (!_stop.IsCancellationRequested)
        {
            long begun = Stopwatch.GetTimestamp();
            int code = RunOnce();
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
            same = !isLive ? 0 : at <= furthest ? same + 1 : 1;
            if (at > furthest) furthest = at;
            delay = Stopwatch.GetElapsedTime(begun) > s_settled ? TimeSpan.Zero
                : delay == TimeSpan.Zero ? TimeSpan.FromMilliseconds(20) : delay < s_delayMax ? delay * 2 : s_delayMax;
            logger.AppEnded(code, at, delay.TotalMilliseconds);
            if (same == SameRecordMax)
            {
                logger.AppStuck(same, furthest);
                incidents.TellDeath(_stop.Token); // no app runs meanwhile
            }
            _stop.Token.WaitHandle.WaitOne(delay);
        }
    }

    private int RunOnce()
    {
        // Its binding takes the end of this process for its own as well, if this process is its parent.
        var variables = new Dictionary<string, string>(environment)
        {
            ["AMBROSIA_PARENT"] = Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
        };
        AppProcess process;
        try
        {
            using (_gate.Enter())
            {
                if (_stop.IsCancellationRequested) return -1;
                _process = process = AppProcess.Start(command, variables);
            }
        }
        catch (Win32Exception e)
        {
            fail(ExitCodes.Misuse, $"cannot start the app '{command[0]}': {e.Message}. Give the program and its arguments behind --.");
            return -1;
        }
        int code = process.AwaitEnd();
        if (code > Incident.EndedBySignal) RuntimeFiles.RemoveIfEnded(process.Id, Path.GetTempPath());
        return code;
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
    /// Ends the app, whose session was told to end: one that does not end by itself is asked to by SIGTERM, and then gets SIGKILL. It waits
    /// until the app is gone.
    /// </summary>
    public void End()
    {
        StartNoMore();
        AppProcess? process;
        using (_gate.Enter()) process = _process;
        if (process is null || process.HasEndedWithin(Grace)) return;
        process.Terminate();
        if (process.HasEndedWithin(s_afterTerminate)) return;
        process.Kill();
        process.HasEndedWithin(s_afterTerminate); // one in the middle of a call of the system may end later
    }

    public void Dispose() => End();
}
