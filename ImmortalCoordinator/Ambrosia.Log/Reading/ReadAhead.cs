using Ambrosia.Log.Files;

namespace Ambrosia.Log.Reading;

/// <summary>
/// Asks for what stands ahead of whoever reads a file through the cache, page after page, so that the reader waits for little of it. The
/// kernel does not do it for segments (<see cref="FileUse.ReadPages"/>). One thread.
/// </summary>
internal sealed class ReadAhead(IFile file)
{
    /// <summary>So much is asked for ahead of the reader, in so large steps. In bytes.</summary>
    private const long Bytes = 8 << 20, StepBytes = 2 << 20;

    private long _expected; // what is below was asked for
    private long? _written; // so far something was written, when it was first looked; null: nobody has looked

    /// <summary>Asks for as much as was written when it was called first, for a reader that does not know where pages end.</summary>
    /// <param name="offset">The page that is read now begins there.</param>
    public void From(long offset) => From(offset, _written ??= EndOfData(offset));

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

    private long EndOfData(long offset)
    {
        FileStretch data = file.NextData(offset);
        return data.Start <= offset ? data.End : offset;
    }
}
