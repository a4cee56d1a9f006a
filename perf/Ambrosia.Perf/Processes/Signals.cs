using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Ambrosia.Perf;

/// <summary>Signals to processes that the driver started, always by id.</summary>
internal static partial class Signals
{
    private const int InterruptSignal = 2, KillSignal = 9;
    private const int NoSuchProcess = 3;

    public static void Kill(int process) => Send(process, KillSignal);

    /// <summary>As Ctrl-C does.</summary>
    public static void Interrupt(int process) => Send(process, InterruptSignal);

    private static void Send(int process, int signal)
    {
        if (process <= 1) throw new ArgumentOutOfRangeException(nameof(process), process, "no process of ours");
        if (SendSignal(process, signal) != 0 && Marshal.GetLastPInvokeError() is not NoSuchProcess and int error)
            throw new Win32Exception(error);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int SendSignal(int process, int signal);
}
