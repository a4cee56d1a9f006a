using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>Tells the thread that writes checkpoints one thing to do.</summary>
internal abstract record CheckpointStep
{
    /// <summary>A checkpoint begins; its image follows.</summary>
    public sealed record Start(CheckpointJob Job) : CheckpointStep;

    /// <summary>The image is whole, as the app says.</summary>
    public sealed record End(ImageEnd Claim) : CheckpointStep;

    /// <summary>The rest of the image will not come.</summary>
    public sealed record Abandon : CheckpointStep;

    /// <summary>Another replica has published a checkpoint.</summary>
    public sealed record Adopt(CheckpointFileName Name) : CheckpointStep;

    /// <summary>A stretch of the image; it grows as long as it waits.</summary>
    public sealed record Stretch(byte[] Buffer) : CheckpointStep
    {
        public int Length { get; set; }

        public ReadOnlySpan<byte> Bytes => Buffer.AsSpan(0, Length);

        public void Append(ReadOnlySpan<byte> bytes)
        {
            bytes.CopyTo(Buffer.AsSpan(Length));
            Length += bytes.Length;
        }
    }
}

/// <summary>
/// Holds what waits for the thread that writes checkpoints, in its order, and the memory of the image's bytes, which is bounded. The thread
/// that reads the app and the one that ticks add, the one that writes takes; one lock.
/// </summary>
internal sealed class ImageQueue
{
    private readonly RankedLock _gate = new(LockRank.ImageQueue);
    private readonly Queue<CheckpointStep> _queue = new();
    private readonly ImageBuffers _buffers = new();

    /// <summary>The last in the queue, if it is a stretch.</summary>
    private CheckpointStep.Stretch? _growing;

    /// <summary>The image that comes in has no byte yet.</summary>
    private bool _isImageEmpty = true;

    public bool HasAny { get { using (_gate.Enter()) return _queue.Count > 0; } }

    public bool HasRoom { get { using (_gate.Enter()) return _buffers.HasRoom; } }

    public void Add(CheckpointStep work)
    {
        using (_gate.Enter())
        {
            _queue.Enqueue(work);
            _growing = null;
            if (work is CheckpointStep.Start) _isImageEmpty = true;
        }
    }

    /// <summary>Adds all of these bytes of an image behind what waits already; false: none of them.</summary>
    public bool TryAdd(ReadOnlySpan<byte> bytes)
    {
        using (_gate.Enter())
        {
            int room = _growing is { } last ? Math.Min(last.Buffer.Length - last.Length, bytes.Length) : 0;
            if (!_buffers.HasRoomFor(bytes.Length - room)) return false;
            for (; !bytes.IsEmpty; bytes = bytes[room..])
            {
                if (_growing is null || _growing.Length == _growing.Buffer.Length)
                    _queue.Enqueue(_growing = new CheckpointStep.Stretch(_buffers.Take(bytes.Length, isFirst: _isImageEmpty)));
                room = Math.Min(_growing.Buffer.Length - _growing.Length, bytes.Length);
                _growing.Append(bytes[..room]);
                _isImageEmpty = false;
            }
            return true;
        }
    }

    /// <summary>Takes the next piece; null: there is none. A stretch that is taken grows no more.</summary>
    public CheckpointStep? Take()
    {
        using (_gate.Enter())
        {
            if (!_queue.TryDequeue(out CheckpointStep? work)) return null;
            if (ReferenceEquals(work, _growing)) _growing = null;
            return work;
        }
    }

    /// <summary>A stretch's bytes are written, and its memory is used again.</summary>
    public void Return(CheckpointStep.Stretch stretch)
    {
        using (_gate.Enter()) _buffers.Return(stretch.Buffer);
    }
}

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
