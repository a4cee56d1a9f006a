using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Signals to processes that the tests started, always by id.</summary>
internal static partial class Signals
{
    /// <summary>What a shell, and <see cref="System.Diagnostics.Process.ExitCode"/>, says of a process that kill -9 ended.</summary>
    public const int KilledExitCode = 128 + KillSignal;

    private const int InterruptSignal = 2, KillSignal = 9, TerminateSignal = 15, ContinueSignal = 18, StopSignal = 19;
    private const int NoSuchProcess = 3;

    public static void Kill(int process) => Send(process, KillSignal);

    /// <summary>As Ctrl-C at a terminal.</summary>
    public static void Interrupt(int process) => Send(process, InterruptSignal);

    public static void Terminate(int process) => Send(process, TerminateSignal);

    /// <summary>The process stands still until <see cref="Continue"/>; it keeps its locks.</summary>
    public static void Stop(int process) => Send(process, StopSignal);

    public static void Continue(int process) => Send(process, ContinueSignal);

    private static void Send(int process, int signal)
    {
        if (process <= 1) throw new ArgumentOutOfRangeException(nameof(process), process, "no process of ours");
        if (SendSignal(process, signal) != 0 && Marshal.GetLastPInvokeError() is not NoSuchProcess and int error)
            throw new Win32Exception(error);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int SendSignal(int process, int signal);
}
