using System.Runtime.InteropServices;

namespace Ambrosia.AppChannel;

/// <summary>Waiting on a word that two processes share; Linux on x64 and Arm64.</summary>
internal static unsafe partial class Futex
{
    private const int WaitOperation = 0, WakeOperation = 1; // without FUTEX_PRIVATE_FLAG: across processes

    private static readonly nint number = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 98 : 202;

    internal static bool IsThere =>
        OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    /// <summary>Waits while the word has this value, for at most that long; may return early.</summary>
    internal static void Wait(ref int word, int value, TimeSpan atMost)
    {
        long* time = stackalloc long[2] { (long)atMost.TotalSeconds, atMost.Ticks % TimeSpan.TicksPerSecond * 100 }; // seconds, nanoseconds
        fixed (int* at = &word) _ = Call(number, at, WaitOperation, value, time);
    }

    /// <summary>Wakes who waits there.</summary>
    internal static void Wake(ref int word)
    {
        fixed (int* at = &word) _ = Call(number, at, WakeOperation, int.MaxValue, null);
    }

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint Call(nint number, int* word, nint operation, nint value, long* time);
}
