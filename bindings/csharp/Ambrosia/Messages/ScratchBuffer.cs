using System.Buffers;

namespace Ambrosia;

/// <summary>
/// One thread's impulse while it is being encoded; reused, so that senders outside the handlers do not wait for each other meanwhile.
/// </summary>
internal sealed class ScratchBuffer : IBufferWriter<byte>
{
    /// <summary>A larger array is given up after use.</summary>
    private const int KeptBytesMax = 1024 * 1024;

    [ThreadStatic]
    private static ScratchBuffer? ofThread;

    private byte[] bytes = new byte[256];
    private int written;

    internal static ScratchBuffer Begin()
    {
        ScratchBuffer buffer = ofThread ??= new ScratchBuffer();
        if (buffer.bytes.Length > KeptBytesMax) buffer.bytes = new byte[256];
        buffer.written = 0;
        return buffer;
    }

    internal ReadOnlySpan<byte> Written => bytes.AsSpan(0, written);

    public void Advance(int count)
    {
        if ((uint)count > (uint)(bytes.Length - written)) throw new ArgumentOutOfRangeException(nameof(count));
        written += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return bytes.AsMemory(written);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return bytes.AsSpan(written);
    }

    private void Grow(int sizeHint)
    {
        int needed = Math.Max(sizeHint, 1);
        if (bytes.Length - written < needed) Array.Resize(ref bytes, (int)Math.Min(Array.MaxLength, 2L * (written + (long)needed)));
    }
}
