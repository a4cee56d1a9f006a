using Ambrosia.Log.Files;
using Ambrosia.Log.Segments;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: a disk whose own cache is lost with the power: it keeps the first block of a file, so that segments are found, and no
/// page behind it that it had flushed.
/// </summary>
internal sealed class AmnesicFiles(IFileSystem files) : WrappedFiles(files)
{
    protected override IFile Wrap(string path, IFile file) => new AmnesicFile(file);

    private sealed class AmnesicFile(IFile file) : WrappedFile(file)
    {
        private bool _hasPages;

        public override void Write(ReadOnlySpan<byte> bytes, long offset)
        {
            base.Write(bytes, offset);
            _hasPages |= offset >= LogSegment.HeaderBytes && bytes.ContainsAnyExcept((byte)0);
        }

        public override void Flush()
        {
            if (!_hasPages) base.Flush();
            _hasPages = false;
        }
    }
}
