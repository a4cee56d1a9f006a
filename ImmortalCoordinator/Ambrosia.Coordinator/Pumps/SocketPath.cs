using System.Security.Cryptography;
using System.Text;
using Ambrosia.Log;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>Where a unix socket of a replica stands: in the log's directory, or, where that path is too long for one, in a private directory.</summary>
internal static class SocketPath
{
    /// <summary>A unix socket's path has at most this many bytes (sun_path less its end).</summary>
    private const int BytesMax = 107;

    public static string Of(IFileSystem files, string path)
    {
        if (Encoding.UTF8.GetByteCount(path) <= BytesMax) return path;
        string directory = Path.Combine(Path.GetTempPath(), $"ambrosia-{Environment.UserName}");
        files.CreateDirectory(directory);
        return Path.Combine(directory, Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(path)))[..24] + ".sock");
    }
}
