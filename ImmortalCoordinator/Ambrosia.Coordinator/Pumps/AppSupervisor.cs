using System.ComponentModel;
using System.Diagnostics;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Starts the app and starts it again when it ends, with backoff. An app that dies again and again at the same record is reported with
/// that record's Lsn: it is what a debugger should look at. One that ends with the code for misuse is not started again:
/// neither is the coordinator.
/// </summary>
internal sealed class AppSupervisor(
    IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, Func<Lsn> executed, Action<string> say,
    Action<int, string> fail) : IDisposable
{
    private const int SameRecordMax = 5;
    private static readonly TimeSpan delayMax = TimeSpan.FromSeconds(5), settled = TimeSpan.FromSeconds(5);

    private readonly ManualResetEventSlim stop = new(false);
    private Process? process;

    public void Start() => new Thread(Loop) { Name = "supervisor", IsBackground = true }.Start();

    private void Loop()
    {
        TimeSpan delay = TimeSpan.Zero;
        Lsn last = Lsn.Zero;
        int same = 0;
        while (!stop.IsSet)
        {
            long begun = Stopwatch.GetTimestamp();
            int code = RunOnce();
            if (stop.IsSet) return;
            if (code == ExitCodes.Misuse)
            {
                fail(ExitCodes.Misuse,
                    "the app ended with code 2: it refuses to run as it is, and starting it again would not help; its own lines say why");
                return;
            }
            Lsn at = executed();
            same = at == last ? same + 1 : 1;
            last = at;
            delay = Stopwatch.GetElapsedTime(begun) > settled ? TimeSpan.Zero
                : delay == TimeSpan.Zero ? TimeSpan.FromMilliseconds(20) : delay < delayMax ? delay * 2 : delayMax;
            say($"app ended with code {code} after Lsn {at}; started again{(delay > TimeSpan.Zero ? $" in {delay.TotalMilliseconds:F0} ms" : "")}");
            if (same == SameRecordMax)
                say($"app ended {same} times at the same record, the one at or behind Lsn {at}: it does not get past it");
            stop.Wait(delay);
        }
    }

    private int RunOnce()
    {
        var start = new ProcessStartInfo(command[0]) { UseShellExecute = false };
        for (int i = 1; i < command.Count; i++) start.ArgumentList.Add(command[i]);
        foreach ((string name, string value) in environment) start.Environment[name] = value;
        try
        {
            process = Process.Start(start);
        }
        catch (Win32Exception e)
        {
            fail(ExitCodes.Misuse, $"cannot start the app '{command[0]}': {e.Message}. Give the program and its arguments behind --.");
            return -1;
        }
        process!.WaitForExit();
        return process.ExitCode;
    }

    /// <summary>Whatever ends from now on stays ended.</summary>
    public void StartNoMore() => stop.Set();

    public void Dispose()
    {
        StartNoMore();
        if (process is { HasExited: false } running) running.WaitForExit(TimeSpan.FromSeconds(1));
    }
}
