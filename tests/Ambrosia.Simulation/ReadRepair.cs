using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>Negative control: whoever is a secondary writes what it has read of a file of the log back to it.</summary>
internal sealed class ReadRepair(IFileSystem files, Func<bool> isSecondary) : WrappedFiles(files)
{
    private readonly IFileSystem _files = files;
    private readonly Func<bool> _isSecondary = isSecondary;

    protected override IFile Wrap(string path, IFile file) => new Repaired(path, file, this);

    private sealed class Repaired(string path, IFile file, ReadRepair owner) : WrappedFile(file)
    {
        public override int Read(Span<byte> buffer, long offset)
        {
            int count = base.Read(buffer, offset);
            if (!owner._isSecondary() || count < 4096 || !Path.GetFileName(path).StartsWith("log.", StringComparison.Ordinal)) return count;
            using IFile again = owner._files.Open(path, FileUse.ReadWrite);
            again.Write(buffer[..count], offset);
            return count;
        }
    }
}
