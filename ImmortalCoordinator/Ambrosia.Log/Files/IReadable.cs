namespace Ambrosia.Log;

/// <summary>What bytes can be read from, at positions.</summary>
public interface IReadable
{
    /// <summary>Reads until the buffer is full or the file ends; returns the bytes read.</summary>
    int Read(Span<byte> buffer, long offset);
}
