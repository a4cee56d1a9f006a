// The chain of chunks under OutboundBuffer: a single-producer, single-consumer queue of bytes without a lock per publication.
// Invariant: taken ≤ published in every chunk; the consumer leaves a chunk only when its Next is set, after which the
// producer never touches it.
namespace Ambrosia;

internal sealed class OutboundChunks
{
    private const int LargeSparesBytesMax = 4 * 1024 * 1024;

    private readonly Lock sparesGate = new();
    private readonly Stack<OutboundChunk> spares = new();

    /// <summary>Larger ones, made for a long message each: the next may be as long. Of <see cref="LargeSparesBytesMax"/> in all.</summary>
    private readonly Stack<OutboundChunk> largeSpares = new();
    private int largeSparesBytes;
    private readonly int spareBytes;
    private readonly int sparesMax;

    private OutboundChunk tail;
    private long published;

    private OutboundChunk head;
    private int taken;
    private long takenTotal;

    internal OutboundChunks(int chunkBytes, int sparesMax)
    {
        spareBytes = chunkBytes;
        this.sparesMax = sparesMax;
        head = tail = new OutboundChunk(chunkBytes);
    }

    /// <summary>Producer: the chunk that is written to.</summary>
    internal OutboundChunk Tail => tail;

    /// <summary>Any thread: bytes published and not taken.</summary>
    internal long Backlog => Volatile.Read(ref published) - Volatile.Read(ref takenTotal);

    /// <summary>Producer: everything in the tail below <paramref name="end"/> is whole frames.</summary>
    internal void Publish(int end)
    {
        int before = tail.Published;
        if (end < before) throw new InvalidOperationException($"Publication fell from {before} to {end}.");
        Volatile.Write(ref published, published + (end - before));
        Volatile.Write(ref tail.Published, end);
    }

    /// <summary>Producer: leaves the tail for an empty chunk; what stands behind its publication is given up.</summary>
    internal void Append(int bytes, ref int end)
    {
        OutboundChunk next = (bytes == spareBytes ? TakeSpare() : TakeLargeSpare(bytes)) ?? new OutboundChunk(bytes);
        Volatile.Write(ref tail.Next, next);
        tail = next;
        end = 0;
    }

    /// <summary>Consumer: a stretch of whole frames from the front, of any length.</summary>
    internal bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        while (true)
        {
            // Next before Published: a chunk that has a successor gets no further publications.
            OutboundChunk? next = Volatile.Read(ref head.Next);
            int ready = Volatile.Read(ref head.Published);
            if (taken < ready)
            {
                bytes = head.Bytes.AsMemory(taken, ready - taken);
                return true;
            }
            if (next is null)
            {
                bytes = default;
                return false;
            }
            GiveSpare(head);
            head = next;
            taken = 0;
        }
    }

    /// <summary>Consumer: <paramref name="count"/> bytes of what TryTake gave are gone.</summary>
    internal void Taken(int count)
    {
        if ((uint)count > (uint)(Volatile.Read(ref head.Published) - taken)) throw new ArgumentOutOfRangeException(nameof(count));
        taken += count;
        Volatile.Write(ref takenTotal, takenTotal + count);
    }

    private OutboundChunk? TakeSpare()
    {
        lock (sparesGate) return spares.TryPop(out OutboundChunk? spare) ? spare : null;
    }

    /// <summary>
    /// The one that was used last, if it has room for so many bytes and not much more; otherwise messages have another
    /// length now, and it goes.
    /// </summary>
    private OutboundChunk? TakeLargeSpare(int bytes)
    {
        lock (sparesGate)
        {
            if (!largeSpares.TryPop(out OutboundChunk? spare)) return null;
            largeSparesBytes -= spare.Bytes.Length;
            return spare.Bytes.Length >= bytes && spare.Bytes.Length / 2 <= bytes ? spare : null;
        }
    }

    private void GiveSpare(OutboundChunk chunk)
    {
        chunk.Clear();
        lock (sparesGate)
        {
            if (chunk.Bytes.Length == spareBytes)
            {
                if (spares.Count < sparesMax) spares.Push(chunk);
            }
            else if (largeSparesBytes + chunk.Bytes.Length <= LargeSparesBytesMax)
            {
                largeSpares.Push(chunk);
                largeSparesBytes += chunk.Bytes.Length;
            }
        }
    }
}
