using System.Runtime.InteropServices;

namespace Ambrosia.AppChannel;

/// <summary>Waits on a word that two processes share. It works on Linux on x64 and Arm64.</summary>
internal static unsafe partial class Futex
{
    private const int WaitOperation = 0, WakeOperation = 1; // without FUTEX_PRIVATE_FLAG: across processes

    private static readonly nint s_number = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 98 : 202;

    /// <summary>True when the system can do it.</summary>
    internal static bool IsThere =>
        OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    /// <summary>Waits while the word has this value, for at most this long. It may return early.</summary>
    internal static void Wait(ref int word, int value, TimeSpan atMost)
    {
        long* time = stackalloc long[2] { (long)atMost.TotalSeconds, atMost.Ticks % TimeSpan.TicksPerSecond * 100 }; // seconds, nanoseconds
        fixed (int* at = &word) _ = Call(s_number, at, WaitOperation, value, time);
    }

    /// <summary>Wakes everybody who waits on the word.</summary>
    internal static void Wake(ref int word)
    {
        fixed (int* at = &word) _ = Call(s_number, at, WakeOperation, int.MaxValue, null);
    }

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint Call(nint number, int* word, nint operation, nint value, long* time);
}
