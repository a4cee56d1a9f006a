using Ambrosia.Protocol;

namespace Ambrosia.AppChannel;

/// <summary>
/// Reads from a ring that the other process writes. One thread uses it. Invariant: <see cref="_read"/> is its own and is never read back
/// from the shared memory.
/// </summary>
internal sealed unsafe class RingReader(byte* ring, int capacity)
{
    private ulong _read;

    /// <summary>Copies out what is there, and wakes a writer that waits for room.</summary>
    /// <returns>Number of bytes; 0 when none are there.</returns>
    /// <exception cref="ProtocolViolation">The writer claims more than fits.</exception>
    internal int TryRead(Span<byte> into)
    {
        int used = Used(), count = Math.Min(used, into.Length);
        if (count == 0) return 0;
        int at = (int)(_read & (ulong)(capacity - 1)), first = Math.Min(count, capacity - at);
        new ReadOnlySpan<byte>(ring + Ring.BytesAt + at, first).CopyTo(into);
        new ReadOnlySpan<byte>(ring + Ring.BytesAt, count - first).CopyTo(into[first..]);
        _read += (uint)count;
        Volatile.Write(ref *(ulong*)(ring + Ring.ReadAt), _read);
        // Either the writer, which says that it waits and then looks, sees the room, or we see that it waits.
        Interlocked.MemoryBarrier();
        ref int waits = ref *(int*)(ring + Ring.WriterWaitsAt);
        if (Volatile.Read(ref waits) != 0 && used - count <= capacity / 2 && Interlocked.Exchange(ref waits, 0) != 0) Futex.Wake(ref waits);
        return count;
    }

    /// <summary>Tells the writer that this side waits and must be woken; returns false when bytes have come meanwhile.</summary>
    internal bool BeginWait()
    {
        ref int waits = ref *(int*)(ring + Ring.ReaderWaitsAt);
        Volatile.Write(ref waits, 1);
        Interlocked.MemoryBarrier();
        if (Used() == 0) return true;
        Volatile.Write(ref waits, 0);
        return false;
    }

    private int Used()
    {
        ulong written = Volatile.Read(ref *(ulong*)(ring + Ring.WrittenAt));
        return Ring.Used(written, _read, capacity)
            ?? throw new ProtocolViolation("P5.19", $"{written} bytes written and {_read} read, in a ring of {capacity}");
    }
}
