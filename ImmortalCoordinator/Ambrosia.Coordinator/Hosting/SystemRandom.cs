using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Gives bytes that are fit for cryptography, from the kernel itself: the class library's source is the same, but loads OpenSSL on its
/// way, which a coordinator without links has no other use for (experiment 11).
/// </summary>
internal static unsafe partial class SystemRandom
{
    private const int Interrupted = 4; // EINTR

    /// <summary>Draws a number from 1 up.</summary>
    public static ulong NextNumber()
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        Fill(bytes);
        return Math.Max(1, BitConverter.ToUInt64(bytes));
    }

    public static void Fill(Span<byte> bytes)
    {
        if (!OperatingSystem.IsLinux())
        {
            RandomNumberGenerator.Fill(bytes);
            return;
        }
        for (int filled = 0; filled < bytes.Length;)
        {
            fixed (byte* at = bytes[filled..])
            {
                nint got = GetRandom(at, (nuint)(bytes.Length - filled), 0);
                if (got <= 0 && Marshal.GetLastPInvokeError() is not Interrupted and int error) throw new Win32Exception(error);
                if (got > 0) filled += (int)got;
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "getrandom", SetLastError = true)]
    private static partial nint GetRandom(byte* bytes, nuint count, uint flags);
}
