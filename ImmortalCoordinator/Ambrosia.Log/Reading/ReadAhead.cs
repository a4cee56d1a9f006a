using Ambrosia.Log.Files;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Asks for what stands ahead of whoever reads a file through the cache, page after page. The kernel by itself asks for much less at once,
/// and the reader waits for most of it. One thread.
/// </summary>
internal sealed class ReadAhead(IFile file)
{
    /// <summary>So much is asked for ahead of the reader, in so large steps. In bytes.</summary>
    private const long Bytes = 8 << 20, StepBytes = 2 << 20;

    private long _expected; // what is below was asked for

    /// <param name="offset">The page that is read now begins there.</param>
    /// <param name="end">Nothing from this offset on is read.</param>
    public void From(long offset, long end)
    {
        if (_expected < offset || _expected > offset + Bytes) _expected = offset;
        while (_expected < end && _expected - offset <= Bytes - StepBytes)
        {
            long bytes = Math.Min(StepBytes, end - _expected);
            file.ExpectReads(_expected, bytes);
            _expected += bytes;
        }
    }
}
