using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Files;

namespace Ambrosia.Inspection.Texts;

/// <summary>
/// Reads a file that a user names, or that came with somebody's log, whole and up to a bound: what is named by mistake, such as a device
/// without an end, costs no more than that.
/// </summary>
internal static class GivenFile
{
    /// <summary>A manifest has some kilobytes, and some hundred where an app has thousands of methods.</summary>
    public const int BytesMax = 16 << 20;

    /// <exception cref="MisuseException">It is longer.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static byte[] Read(string path)
    {
        using FileStream file = File.OpenRead(path);
        return Read(path, into => file.Read(into));
    }

    /// <exception cref="MisuseException">It is longer.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static byte[] Read(IFileSystem files, string path)
    {
        using IFile file = files.Open(path, FileUse.Read);
        long at = 0;
        return Read(path, into =>
        {
            int read = file.Read(into, at);
            at += read;
            return read;
        });
    }

    private delegate int ReadNext(Span<byte> into);

    private static byte[] Read(string path, ReadNext next)
    {
        byte[] buffer = new byte[64 << 10];
        int fill = 0;
        for (int read; (read = next(buffer.AsSpan(fill))) > 0;)
        {
            fill += read;
            if (fill > BytesMax)
                throw new MisuseException($"'{path}' is too long", $"more than {BytesMax >> 20} MiB are in none of these files",
                    "give the file that was meant");
            if (fill == buffer.Length) Array.Resize(ref buffer, buffer.Length * 2);
        }
        return buffer.AsSpan(0, fill).ToArray();
    }
}
