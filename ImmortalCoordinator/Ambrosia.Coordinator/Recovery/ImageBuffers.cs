namespace Ambrosia.Coordinator;

/// <summary>
/// The memory through which an image passes on its way from the app to the disk: a few buffers that are used again and again, however the
/// app has cut the image. Invariant: at most <see cref="CountMax"/> are out. Not safe for several threads: its owner's lock guards it.
/// </summary>
internal sealed class ImageBuffers
{
    /// <summary>
    /// The largest chunk while it comes in, and a buffer at each end: a slow disk makes the app wait, a fast one finds something to write.
    /// </summary>
    public const int CountMax = Protocol.ImageChunk.BytesMax / BufferBytes + 2;

    public const int BufferBytes = 256 << 10;

    /// <summary>A first chunk of no more than this is an image by itself, mostly, and needs no buffer of the usual size.</summary>
    private const int SmallBytes = 16 << 10;

    private readonly Stack<byte[]> spare = new();
    private int count;

    public bool HasRoom => count < CountMax;

    /// <summary>True when so many bytes find buffers.</summary>
    public bool HasRoomFor(int bytes) => (long)(CountMax - count) * BufferBytes >= bytes;

    /// <summary>Room for <paramref name="bytes"/>, or for as many of them as there is.</summary>
    public byte[] Take(int bytes, bool isFirst)
    {
        if (!HasRoom) throw new InvalidOperationException($"{count} buffers are out");
        count++;
        if (isFirst && bytes <= SmallBytes) return new byte[bytes];
        return spare.TryPop(out byte[]? buffer) ? buffer : GC.AllocateUninitializedArray<byte>(BufferBytes);
    }

    public void Return(byte[] buffer)
    {
        count--;
        if (buffer.Length == BufferBytes) spare.Push(buffer);
    }
}
