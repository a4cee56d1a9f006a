using System.Security.Cryptography;

namespace Ambrosia.Tools.Tests;

/// <summary>Describes everything about a directory that a tool could change: names, contents, sizes, times, modes.</summary>
internal static class Snapshot
{
    public static string Of(string directory) =>
        string.Join('\n', Directory.EnumerateFileSystemEntries(directory).Append(directory).Order(StringComparer.Ordinal).Select(Describe));

    private static string Describe(string path)
    {
        string content = File.Exists(path) ? Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(path))) : "directory";
        return $"{path} {content} {File.GetLastWriteTimeUtc(path):O} {File.GetUnixFileMode(path)}";
    }
}
