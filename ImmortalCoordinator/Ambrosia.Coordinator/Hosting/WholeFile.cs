using System.Text;
using Ambrosia.Log.Files;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Writes a small file that whoever reads it sees whole: aside, and renamed over the one before. Nothing is flushed, since it says nothing
/// that the log does not.
/// </summary>
internal static class WholeFile
{
    /// <param name="aside">The path of the unfinished file.</param>
    /// <exception cref="IOException">The disk is full, or broken, or somebody else has removed it.</exception>
    public static void Write(IFileSystem files, string path, string aside, string text)
    {
        files.Delete(aside); // of a process that was killed here
        using (IFile file = files.Create(aside)) file.Write(Encoding.UTF8.GetBytes(text), 0);
        files.Rename(aside, path);
    }
}
