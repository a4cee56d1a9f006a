using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>Negative control: now and then a flush of a directory fails, and the disk knows of no fault.</summary>
internal sealed class MoodyFiles(IFileSystem files) : WrappedFiles(files)
{
    private const int EachNth = 20;

    private int _flushes;

    protected override IFile Wrap(string path, IFile file) => file;

    public override void FlushDirectory(string path)
    {
        if (++_flushes % EachNth == 0) throw new IOException($"flush of {path}: Input/output error (errno 5)");
        base.FlushDirectory(path);
    }
}
