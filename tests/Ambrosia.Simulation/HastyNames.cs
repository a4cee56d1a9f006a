using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: a checkpoint gets its name as soon as it is whole and read back, whether or not anything has confirmed its state.
/// </summary>
/// <param name="isHasty">The replica is one that does so.</param>
internal sealed class HastyNames(IFileSystem files, Func<bool> isHasty) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file)
    {
        string[] parts = Path.GetFileName(path).Split('.'); // ckpt.<lsn>.<epoch>.<replica>, and what is unfinished has three more
        if (parts is not ["ckpt", _, _, _, _, _, "tmp"] || file.Length == 0 || !isHasty()) return file;
        string directory = Path.GetDirectoryName(path)!;
        TryLink(path, Path.Combine(directory, string.Join('.', parts[..4])));
        FlushDirectory(directory);
        return file;
    }
}
