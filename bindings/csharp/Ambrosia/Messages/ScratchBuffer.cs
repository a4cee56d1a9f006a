using System.Buffers;

namespace Ambrosia.Messages;

/// <summary>
/// Holds one thread's message while it is being encoded. It is reused, so that senders outside the handlers do not wait for each other
/// meanwhile.
/// </summary>
internal sealed class ScratchBuffer : IBufferWriter<byte>
{
    /// <summary>A larger array is given up after use.</summary>
    private const int KeptBytesMax = 1024 * 1024;

    [ThreadStatic]
    private static ScratchBuffer? s_ofThread;

    private byte[] _bytes = new byte[256];
    private int _written;

    internal static ScratchBuffer Begin()
    {
        ScratchBuffer buffer = s_ofThread ??= new ScratchBuffer();
        if (buffer._bytes.Length > KeptBytesMax) buffer._bytes = new byte[256];
        buffer._written = 0;
        return buffer;
    }

    internal ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _written);

    public void Advance(int count)
    {
        if ((uint)count > (uint)(_bytes.Length - _written)) throw new ArgumentOutOfRangeException(nameof(count));
        _written += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsMemory(_written);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsSpan(_written);
    }

    private void Grow(int sizeHint)
    {
        int needed = Math.Max(sizeHint, 1);
        if (_bytes.Length - _written < needed) Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, 2L * (_written + (long)needed)));
    }
}
