using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Ambrosia;

/// <summary>
/// Sends what a socket takes at once, without changing its blocking mode, for which .NET has no flag. Elsewhere than on Linux it sends
/// nothing, and the sender's thread does it all.
/// </summary>
internal static partial class NonBlockingSend
{
    private const int DontWait = 0x40, NoSignal = 0x4000;
    private const int TryAgain = 11, Interrupted = 4;

    /// <returns>Bytes sent, 0 if none fit.</returns>
    /// <exception cref="SocketException">The connection is gone.</exception>
    internal static unsafe int TrySend(Socket socket, ReadOnlySpan<byte> bytes)
    {
        if (!OperatingSystem.IsLinux()) return 0;
        fixed (byte* start = bytes)
        {
            while (true)
            {
                nint sent = Send((int)socket.SafeHandle.DangerousGetHandle(), start, (nuint)bytes.Length, DontWait | NoSignal);
                if (sent >= 0) return (int)sent;
                int error = Marshal.GetLastPInvokeError();
                if (error == Interrupted) continue;
                return error == TryAgain ? 0 : throw new SocketException((int)SocketError.ConnectionReset, $"send failed with errno {error}");
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    private static unsafe partial nint Send(int socket, byte* bytes, nuint count, int flags);
}
