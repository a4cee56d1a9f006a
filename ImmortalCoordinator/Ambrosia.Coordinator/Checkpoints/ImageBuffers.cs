using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// The memory through which an image passes on its way from the app to the disk: a few buffers that are used again and again, however the
/// app has cut the image. Invariant: at most <see cref="CountMax"/> are out. Not safe for several threads: its owner's lock guards it.
/// </summary>
internal sealed class ImageBuffers
{
    /// <summary>
    /// The largest chunk while it comes in, and a buffer at each end: a slow disk makes the app wait, a fast one finds something to write.
    /// </summary>
    public const int CountMax = ImageChunk.BytesMax / BufferBytes + 2;

    public const int BufferBytes = 256 << 10;

    /// <summary>A first chunk of no more than this is an image by itself, mostly, and needs no buffer of the usual size.</summary>
    private const int SmallBytes = 16 << 10;

    private readonly Stack<byte[]> _spare = new();
    private int _count;

    public bool HasRoom => _count < CountMax;

    /// <summary>True when so many bytes find buffers.</summary>
    public bool HasRoomFor(int bytes) => (long)(CountMax - _count) * BufferBytes >= bytes;

    /// <summary>Returns room for <paramref name="bytes"/>, or for as many of them as there is.</summary>
    public byte[] Take(int bytes, bool isFirst)
    {
        if (!HasRoom) throw new InvalidOperationException($"{_count} buffers are out");
        _count++;
        if (isFirst && bytes <= SmallBytes) return new byte[bytes];
        return _spare.TryPop(out byte[]? buffer) ? buffer : GC.AllocateUninitializedArray<byte>(BufferBytes);
    }

    public void Return(byte[] buffer)
    {
        _count--;
        if (buffer.Length == BufferBytes) _spare.Push(buffer);
    }
}
