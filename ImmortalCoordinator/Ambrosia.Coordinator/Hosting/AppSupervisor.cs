using System.ComponentModel;
using System.Diagnostics;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Starts the app and starts it again when it ends, with backoff. An app that dies again and again at the same record is reported with
/// that record's Lsn: it is what a debugger should look at. One that ends with the code for misuse is not started again:
/// neither is the coordinator.
/// </summary>
internal sealed class AppSupervisor(
    IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Func<Lsn> executed, ILogger logger,
    Action<int, string> fail) : IDisposable
{
    private const int SameRecordMax = 5;
    private static readonly TimeSpan s_delayMax = TimeSpan.FromSeconds(5), s_settled = TimeSpan.FromSeconds(5);

    private readonly ManualResetEventSlim _stop = new(false);
    private Process? _process;

    public void Start() => new Thread(Loop) { Name = "supervisor", IsBackground = true }.Start();

    private void Loop()
    {
        TimeSpan delay = TimeSpan.Zero;
        Lsn last = Lsn.Zero;
        int same = 0;
        while (!_stop.IsSet)
        {
            long begun = Stopwatch.GetTimestamp();
            int code = RunOnce();
            if (_stop.IsSet) return;
            if (code == ExitCodes.Misuse)
            {
                fail(ExitCodes.Misuse,
                    "the app ended with code 2: it refuses to run as it is, and starting it again would not help; its own lines say why");
                return;
            }
            Lsn at = executed();
            same = at == last ? same + 1 : 1;
            last = at;
            delay = Stopwatch.GetElapsedTime(begun) > s_settled ? TimeSpan.Zero
                : delay == TimeSpan.Zero ? TimeSpan.FromMilliseconds(20) : delay < s_delayMax ? delay * 2 : s_delayMax;
            logger.AppEnded(code, at, delay.TotalMilliseconds);
            if (same == SameRecordMax) logger.AppStuck(same, at);
            _stop.Wait(delay);
        }
    }

    private int RunOnce()
    {
        var start = new ProcessStartInfo(command[0]) { UseShellExecute = false };
        for (int i = 1; i < command.Count; i++) start.ArgumentList.Add(command[i]);
        foreach ((string name, string value) in environment) start.Environment[name] = value;
        try
        {
            _process = Process.Start(start);
        }
        catch (Win32Exception e)
        {
            fail(ExitCodes.Misuse, $"cannot start the app '{command[0]}': {e.Message}. Give the program and its arguments behind --.");
            return -1;
        }
        _process!.WaitForExit();
        return _process.ExitCode;
    }

    /// <summary>An app that ends from now on is not started again.</summary>
    public void StartNoMore() => _stop.Set();

    public void Dispose()
    {
        StartNoMore();
        if (_process is { HasExited: false } running) running.WaitForExit(TimeSpan.FromSeconds(1));
    }
}
