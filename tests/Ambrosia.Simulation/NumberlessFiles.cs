using Ambrosia.Log.Files;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: errors lose their numbers on the way, so that what cannot be read and what the system refuses for now look like a
/// disk that fails.
/// </summary>
internal sealed class NumberlessFiles(IFileSystem files) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file) => new NumberlessFile(file);

    public override IFile Open(string path, FileUse use) => Numberless(() => base.Open(path, use));

    public override IFile Create(string path) => Numberless(() => base.Create(path));

    private static T Numberless<T>(Func<T> ask)
    {
        try
        {
            return ask();
        }
        catch (IOException e) when (IFileSystem.IsUnreadable(e) || IFileSystem.IsLimit(e.HResult))
        {
            throw new IOException(e.Message, e);
        }
    }

    private sealed class NumberlessFile(IFile file) : WrappedFile(file)
    {
        public override int Read(Span<byte> buffer, long offset)
        {
            try
            {
                return base.Read(buffer, offset);
            }
            catch (IOException e) when (IFileSystem.IsUnreadable(e))
            {
                throw new IOException(e.Message, e);
            }
        }
    }
}
