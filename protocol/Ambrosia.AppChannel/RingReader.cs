using System.Net.Sockets;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

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
        LockChecks.BeforeWait();
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

/// <summary>Waits on a word that two processes share. It works on Linux on x64 and Arm64.</summary>
internal static unsafe partial class Futex
{
    private const int WaitOperation = 0, WakeOperation = 1; // without FUTEX_PRIVATE_FLAG: across processes

    private static readonly nint s_number = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 98 : 202;

    /// <summary>True when the system can do it.</summary>
    internal static bool IsThere =>
        OperatingSystem.IsLinux() && RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.Arm64;

    /// <summary>Waits while the word has this value, for at most this long. It may return early.</summary>
    internal static void Wait(ref int word, int value, TimeSpan atMost)
    {
        long* time = stackalloc long[2] { (long)atMost.TotalSeconds, atMost.Ticks % TimeSpan.TicksPerSecond * 100 }; // seconds, nanoseconds
        fixed (int* at = &word) _ = Call(s_number, at, WaitOperation, value, time);
    }

    /// <summary>Wakes everybody who waits on the word.</summary>
    internal static void Wake(ref int word)
    {
        fixed (int* at = &word) _ = Call(s_number, at, WakeOperation, int.MaxValue, null);
    }

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint Call(nint number, int* word, nint operation, nint value, long* time);
}
