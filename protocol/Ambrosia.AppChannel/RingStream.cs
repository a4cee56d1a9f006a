using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;

namespace Ambrosia.AppChannel;

/// <summary>
/// Bytes through two rings of shared memory: one copy in and one out, and no system call while both sides are busy. The socket beside them
/// wakes a reader that waits (any byte does) and tells it of the other side's end. A writer that waits for room
/// waits on a word of the ring.
/// </summary>
public sealed class RingStream : AppStream
{
    /// <summary>Measured against less, which changes threads oftener: docs/decisions/0012.</summary>
    private const int CapacityOfRings = 4 * 1024 * 1024;

    private readonly SocketStream ends;
    private readonly RingMemory memory;
    private readonly RingReader reader;
    private readonly RingWriter writer;
    private readonly Action bell;
    private readonly byte[] heard = new byte[64];
    private bool ended;

    private RingStream(Socket socket, RingMemory memory, RingReader reader, RingWriter writer)
    {
        this.memory = memory;
        this.reader = reader;
        this.writer = writer;
        ends = new SocketStream(socket);
        bell = () => ends.TrySend([0]); // where no byte fits there are enough to wake
    }

    /// <summary>The system can do it.</summary>
    public static bool IsThere => Futex.IsThere;

    /// <summary>
    /// The coordinator's side: makes the rings and tells the app at the other end of the socket, whose hello was accepted.
    /// </summary>
    /// <exception cref="IOException">The system gives no memory.</exception>
    public static RingStream Offer(Socket socket) => Offer(socket, CapacityOfRings);

    internal static RingStream Offer(Socket socket, int capacity)
    {
        RingMemory memory = RingMemory.Make(capacity);
        var frame = new ArrayBufferWriter<byte>();
        Frames.Write(frame, new RingsFrame((uint)memory.Capacity, memory.Path), seed: 0, checkPayload: false);
        try
        {
            socket.Send(frame.WrittenSpan);
        }
        catch (SocketException)
        {
            // The app is gone already, which the first receive finds out.
        }
        return new RingStream(socket, memory, memory.ReaderFromApp, memory.WriterToApp);
    }

    /// <summary>The app's side.</summary>
    /// <exception cref="ProtocolViolation">P5.19.</exception>
    /// <exception cref="IOException">They cannot be opened.</exception>
    internal static RingStream Open(Socket socket, RingsFrame rings)
    {
        RingMemory memory = RingMemory.Open(rings);
        return new RingStream(socket, memory, memory.ReaderAtApp, memory.WriterFromApp);
    }

    public override int Receive(Span<byte> into)
    {
        while (true)
        {
            int count = reader.TryRead(into);
            if (count > 0 || ended) return count;
            if (reader.BeginWait()) ended = ends.Receive(heard) == 0; // and then the ring once more, for what was written before the end
        }
    }

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        while (true)
        {
            bytes = bytes[writer.TryWrite(bytes, bell)..];
            if (bytes.IsEmpty) return;
            writer.AwaitRoom(bell);
        }
    }

    public override int TrySend(ReadOnlySpan<byte> bytes) => writer.TryWrite(bytes, bell);

    public override void End() => ends.End();

    /// <summary>Behind the last call of any thread.</summary>
    public override void Dispose() => memory.Dispose();
}
