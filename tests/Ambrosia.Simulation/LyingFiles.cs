using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>Negative control: a disk that says that it has flushed and has not.</summary>
internal sealed class LyingFiles(IFileSystem files) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file) => new LyingFile(file);

    private sealed class LyingFile(IFile file) : WrappedFile(file)
    {
        public override void Flush()
        {
        }
    }
}
