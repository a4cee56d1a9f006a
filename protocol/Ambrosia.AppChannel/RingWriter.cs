using System.Net.Sockets;

namespace Ambrosia.AppChannel;

/// <summary>
/// The writing end of a ring, which one thread at a time uses. Invariant: <see cref="_written"/> is its own and is never read back from the
/// shared memory.
/// </summary>
internal sealed unsafe class RingWriter(byte* ring, int capacity)
{
    /// <summary>The reader can begin with this many bytes of a long message while the rest is still copied.</summary>
    private const int PieceBytes = 128 * 1024;

    /// <summary>A writer that waits rings the bell this often, which fails when the reader is gone.</summary>
    private static readonly TimeSpan s_ringEvery = TimeSpan.FromMilliseconds(100);

    private ulong _written;

    /// <summary>Copies in what there is room for, and wakes a reader that waits.</summary>
    /// <param name="bell">Action that wakes the reader.</param>
    /// <exception cref="SocketException">The reader claims what it cannot have read.</exception>
    internal int TryWrite(ReadOnlySpan<byte> bytes, Action bell)
    {
        int count = Math.Min(bytes.Length, Room());
        for (int done = 0; done < count;)
        {
            int piece = Math.Min(PieceBytes, count - done);
            Copy(bytes.Slice(done, piece));
            done += piece;
            _written += (uint)piece;
            Volatile.Write(ref *(ulong*)(ring + Ring.WrittenAt), _written);
            // Either the reader, which says that it waits and then looks, sees the bytes, or we see that it waits.
            Interlocked.MemoryBarrier();
            ref int waits = ref *(int*)(ring + Ring.ReaderWaitsAt);
            if (Volatile.Read(ref waits) != 0 && Interlocked.Exchange(ref waits, 0) != 0) bell();
        }
        return count;
    }

    /// <summary>Waits until half of the ring is free. To wait for less would change threads for little.</summary>
    /// <exception cref="SocketException">The reader is gone.</exception>
    internal void AwaitRoom(Action bell)
    {
        ref int waits = ref *(int*)(ring + Ring.WriterWaitsAt);
        while (capacity - Room() > capacity / 2)
        {
            Volatile.Write(ref waits, 1);
            Interlocked.MemoryBarrier();
            if (capacity - Room() > capacity / 2) Futex.Wait(ref waits, 1, s_ringEvery);
            if (Interlocked.Exchange(ref waits, 0) != 0) bell();
        }
    }

    private int Room() =>
        capacity
        - (Ring.Used(_written, Volatile.Read(ref *(ulong*)(ring + Ring.ReadAt)), capacity)
            ?? throw new SocketException((int)SocketError.ConnectionReset,
                "the other side claims to have read what was not written (P5.19)"));

    private void Copy(ReadOnlySpan<byte> bytes)
    {
        int at = (int)(_written & (ulong)(capacity - 1)), first = Math.Min(bytes.Length, capacity - at);
        bytes[..first].CopyTo(new Span<byte>(ring + Ring.BytesAt + at, first));
        bytes[first..].CopyTo(new Span<byte>(ring + Ring.BytesAt, bytes.Length - first));
    }
}
