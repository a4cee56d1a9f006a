using System.Diagnostics;
using System.Runtime.InteropServices;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// AMBROSIA_CRASH_AT=name[:nth]: the process kills itself when it passes that crash point for the nth time. Only tests set it.
/// </summary>
internal sealed partial class CrashSwitch(string name, int nth) : ICrashPoints
{
    private const string Variable = "AMBROSIA_CRASH_AT";
    private const int KillSignal = 9;

    private int _passed;

    public static void ArmFromEnvironment()
    {
        if (Environment.GetEnvironmentVariable(Variable) is not { Length: > 0 } value) return;
        string[] parts = value.Split(':');
        int nth = parts.Length > 1 && int.TryParse(parts[1], out int n) && n > 0 ? n : 1;
        Crash.Arm(new CrashSwitch(parts[0], nth));
    }

    public bool IsArmed(string point) => point == name;

    public void Hit(string point)
    {
        if (point != name || Interlocked.Increment(ref _passed) != nth) return;
        if (OperatingSystem.IsWindows()) Process.GetCurrentProcess().Kill();
        else _ = Kill(Environment.ProcessId, KillSignal);
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Kill(int process, int signal);
}
