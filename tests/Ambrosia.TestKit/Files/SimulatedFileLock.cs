using Ambrosia.Log.Files;

namespace Ambrosia.TestKit;

/// <summary>An exclusive lock on a file (not on its name), held by a process until disposed or dead.</summary>
internal sealed class SimulatedFileLock(SimulatedFileSystem disk, SimulatedFile file, string path) : IFileLock
{
    public IFile File => file;

    public bool IsStillNamed => disk.IsNamed(file, path);

    public void Dispose() => file.Dispose();
}
