using System.Security.Cryptography;
using System.Text;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Chooses where a unix socket of a replica stands: in the log's directory, where the socket's own mode and the caller's user guard it;
/// elsewhere only in a directory that nobody else may enter.
/// </summary>
internal static class SocketPath
{
    /// <summary>A unix socket's path has at most this many bytes (sun_path less its end).</summary>
    private const int BytesMax = 107;

    /// <summary>
    /// Returns the path itself, in the log's directory; or, where it is too long for a socket, a short one in a private directory.
    /// </summary>
    /// <exception cref="MisuseException">The private directory is somebody else's.</exception>
    public static string Of(IFileSystem files, string path)
    {
        if (Encoding.UTF8.GetByteCount(path) <= BytesMax) return path;
        string name = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(path)))[..24] + ".sock";
        return Made(files, Path.Combine(Path.GetTempPath(), $"ambrosia-{Environment.UserName}", name));
    }

    /// <summary>Returns a path of the user's choice, in a directory that is made where it is missing.</summary>
    /// <exception cref="MisuseException">As <see cref="Check"/>.</exception>
    public static string Made(IFileSystem files, string path)
    {
        files.CreateDirectory(Path.GetDirectoryName(path)!);
        Check(path);
        return path;
    }

    /// <exception cref="MisuseException">Too long for a socket, or in a directory that others may enter.</exception>
    public static void Check(string path)
    {
        if (Encoding.UTF8.GetByteCount(path) > BytesMax)
            throw new MisuseException(
                $"the app's socket {path} has a path of more than {BytesMax} bytes, which no socket can have. Give a shorter one with --app-socket.");
        string directory = Path.GetDirectoryName(path)!;
        if (FileRights.WhatIsWrongWithPrivateDirectory(directory) is { } wrong)
            throw new MisuseException(
                $"a socket cannot be in {directory}: {wrong}. Give with --app-socket a path in a directory of your own with mode 0700; one that does not exist is made.");
    }
}
