namespace Ambrosia.Log;

/// <summary>An open file. Reads and writes are at positions; short ones and EINTR are dealt with inside.</summary>
public interface IFile : IDisposable
{
    long Length { get; }

    /// <summary>Reads until the buffer is full or the file ends; returns the bytes read.</summary>
    int Read(Span<byte> buffer, long offset);

    void Write(ReadOnlySpan<byte> bytes, long offset);

    /// <summary>Sets disk space aside up to <paramref name="length"/> without changing the file's length.</summary>
    void Allocate(long length);

    /// <summary>Cuts or extends the file.</summary>
    void SetLength(long length);

    /// <summary>Content and length are on the device when it returns.</summary>
    void Flush();

    /// <summary>Forgets cached content, so that the next reads come from the device; a hint.</summary>
    void DropCache();
}
