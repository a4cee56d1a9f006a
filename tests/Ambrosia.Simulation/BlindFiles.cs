using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>Negative control: a fence check that answers from memory and does not look.</summary>
internal sealed class BlindFiles(IFileSystem files) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file) => file;

    public override bool Exists(string path) => Path.GetFileName(path).StartsWith("epoch.", StringComparison.Ordinal) || base.Exists(path);
}
