using System.Globalization;
using System.Runtime.InteropServices;

namespace Ambrosia.Log;

/// <summary>
/// Turns the last errno into the exception that the files seam promises, with operation, path and errno in the message; the
/// errno is the HResult too.
/// </summary>
internal static class PosixError
{
    public static int Last => Marshal.GetLastPInvokeError();

    public static IOException Of(string operation, string path) => Of(operation, path, Last);

    public static IOException Of(string operation, string path, int errno)
    {
        string message = string.Create(CultureInfo.InvariantCulture,
            $"{operation} {path}: {Marshal.GetPInvokeErrorMessage(errno)} (errno {errno})");
        return errno == Libc.NotThere ? new FileNotFoundException(message, path) : new IOException(message, errno);
    }
}
