using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: a rename that another was faster with says that it has happened, as one that was sent twice over a network may.
/// </summary>
internal sealed class SharedClaims(IFileSystem files) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file) => file;

    public override void Rename(string from, string to)
    {
        try
        {
            base.Rename(from, to);
        }
        catch (FileNotFoundException) when (Path.GetFileName(to).StartsWith("epoch.", StringComparison.Ordinal))
        {
        }
    }
}
