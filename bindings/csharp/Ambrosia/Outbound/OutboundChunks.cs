using Ambrosia.Protocol.Locking;

namespace Ambrosia.Outbound;

/// <summary>
/// The chain of chunks under <see cref="OutboundBuffer"/>: a queue of bytes with one producer and one consumer, and no lock for a
/// publication. Invariant: taken ≤ published in every chunk; the consumer leaves a chunk only when its Next is set, after which the
/// producer never touches it.
/// </summary>
internal sealed class OutboundChunks
{
    private const int LargeSparesBytesMax = 4 * 1024 * 1024;

    private readonly RankedLock _sparesGate = new(LockRank.OutboundChunks);
    private readonly Stack<OutboundChunk> _spares = new();

    /// <summary>
    /// Larger spares, each made for a long message, since the next one may be as long. Together they have at most
    /// <see cref="LargeSparesBytesMax"/> bytes.
    /// </summary>
    private readonly Stack<OutboundChunk> _largeSpares = new();
    private int _largeSparesBytes;
    private readonly int _spareBytes;
    private readonly int _sparesMax;

    private OutboundChunk _tail;
    private long _published;

    private OutboundChunk _head;
    private int _taken;
    private long _takenTotal;

    internal OutboundChunks(int chunkBytes, int sparesMax)
    {
        _spareBytes = chunkBytes;
        _sparesMax = sparesMax;
        _head = _tail = new OutboundChunk(chunkBytes);
    }

    /// <summary>The chunk that is written to. It is the producer's.</summary>
    internal OutboundChunk Tail => _tail;

    /// <summary>The number of bytes that were published and not taken. Any thread may ask.</summary>
    internal long Backlog => Volatile.Read(ref _published) - Volatile.Read(ref _takenTotal);

    /// <summary>Says that everything in the tail below <paramref name="end"/> is whole frames. The producer calls it.</summary>
    internal void Publish(int end)
    {
        int before = _tail.Published;
        if (end < before) throw new InvalidOperationException($"Publication fell from {before} to {end}.");
        Volatile.Write(ref _published, _published + (end - before));
        Volatile.Write(ref _tail.Published, end);
    }

    /// <summary>
    /// Leaves the tail for an empty chunk; what stands in it behind the last publication is given up. The producer calls it.
    /// </summary>
    internal void Append(int bytes, ref int end)
    {
        OutboundChunk next = (bytes == _spareBytes ? TakeSpare() : TakeLargeSpare(bytes)) ?? new OutboundChunk(bytes);
        Volatile.Write(ref _tail.Next, next);
        _tail = next;
        end = 0;
    }

    /// <summary>Leaves the tail for a piece that holds a whole frame already. The producer calls it.</summary>
    internal void AppendFull(NativePiece piece)
    {
        var next = new OutboundChunk(piece);
        Volatile.Write(ref _tail.Next, next);
        _tail = next;
        Publish(piece.End);
    }

    /// <summary>Gives a stretch of whole frames from the front, of any length. The consumer calls it.</summary>
    internal bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        while (true)
        {
            // Next before Published: a chunk that has a successor gets no further publications.
            OutboundChunk? next = Volatile.Read(ref _head.Next);
            int ready = Volatile.Read(ref _head.Published);
            if (_taken < ready)
            {
                bytes = _head.Memory.Slice(_taken, ready - _taken);
                return true;
            }
            if (next is null)
            {
                bytes = default;
                return false;
            }
            GiveSpare(_head);
            _head = next;
            _taken = 0;
        }
    }

    /// <summary>Says that the first <paramref name="count"/> bytes of what TryTake gave are gone. The consumer calls it.</summary>
    internal void Taken(int count)
    {
        if ((uint)count > (uint)(Volatile.Read(ref _head.Published) - _taken)) throw new ArgumentOutOfRangeException(nameof(count));
        _taken += count;
        Volatile.Write(ref _takenTotal, _takenTotal + count);
    }

    private OutboundChunk? TakeSpare()
    {
        using (_sparesGate.Enter()) return _spares.TryPop(out OutboundChunk? spare) ? spare : null;
    }

    /// <summary>
    /// Gives the large spare that was used last, if it has room for so many bytes and not much more. Otherwise messages have another
    /// length now, and the spare is given up.
    /// </summary>
    private OutboundChunk? TakeLargeSpare(int bytes)
    {
        using (_sparesGate.Enter())
        {
            if (!_largeSpares.TryPop(out OutboundChunk? spare)) return null;
            _largeSparesBytes -= spare.Bytes.Length;
            return spare.Bytes.Length >= bytes && spare.Bytes.Length / 2 <= bytes ? spare : null;
        }
    }

    private void GiveSpare(OutboundChunk chunk)
    {
        if (chunk.Piece is { } piece)
        {
            piece.Free();
            return;
        }
        chunk.Clear();
        using (_sparesGate.Enter())
        {
            if (chunk.Bytes.Length == _spareBytes)
            {
                if (_spares.Count < _sparesMax) _spares.Push(chunk);
            }
            else if (_largeSparesBytes + chunk.Bytes.Length <= LargeSparesBytesMax)
            {
                _largeSpares.Push(chunk);
                _largeSparesBytes += chunk.Bytes.Length;
            }
        }
    }
}

/// <summary>
/// Holds a stretch of the app's output stream. The producer fills it from the front and links the next; the consumer follows.
/// </summary>
internal sealed class OutboundChunk
{
    /// <summary>The bytes that the producer writes; none where they stand in <see cref="Piece"/>.</summary>
    internal readonly byte[] Bytes;

    /// <summary>What came as it is, and goes when it is sent; null: the chunk is written and used again.</summary>
    internal readonly NativePiece? Piece;

    internal OutboundChunk(int bytes) => Bytes = GC.AllocateUninitializedArray<byte>(bytes);

    internal OutboundChunk(NativePiece piece) => (Bytes, Piece) = ([], piece);

    internal ReadOnlyMemory<byte> Memory => Piece is null ? Bytes : Piece.Memory;

    /// <summary>
    /// The offset below which whole frames may be sent. The producer writes it, the consumer reads it, and it never falls.
    /// </summary>
    internal int Published;

    /// <summary>The next chunk; the producer sets it once, after its last publication here.</summary>
    internal OutboundChunk? Next;

    internal void Clear()
    {
        Published = 0;
        Next = null;
    }
}
