using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.AppChannel;

/// <summary>
/// Carries bytes through two rings of shared memory, with one copy in and one out, and without a system call while both sides are busy. The
/// socket beside them wakes a reader that waits (any byte does) and tells it of the other side's end. A writer that waits for room waits on
/// a word of the ring.
/// </summary>
public sealed class RingStream : AppStream
{
    /// <summary>Smaller rings change threads oftener; the size was measured (experiment 12).</summary>
    private const int CapacityOfRings = 4 * 1024 * 1024;

    private readonly SocketStream _ends;
    private readonly RingMemory _memory;
    private readonly RingReader _reader;
    private readonly RingWriter _writer;
    private readonly Action _bell;
    private readonly byte[] _heard = new byte[64];
    private bool _ended;

    private RingStream(Socket socket, RingMemory memory, RingReader reader, RingWriter writer)
    {
        _memory = memory;
        _reader = reader;
        _writer = writer;
        _ends = new SocketStream(socket);
        _bell = () => _ends.TrySend([0]); // where no byte fits, those that are there wake the reader
    }

    /// <summary>True when the system has what the rings need: shared memory, and words that two processes can wait on.</summary>
    public static bool IsThere => Futex.IsThere;

    /// <summary>
    /// Makes the rings on the coordinator's side, and tells the app at the other end of the socket, whose hello was accepted.
    /// </summary>
    /// <exception cref="IOException">The system gives no memory.</exception>
    public static RingStream Offer(Socket socket) => Offer(socket, CapacityOfRings);

    internal static RingStream Offer(Socket socket, int capacity)
    {
        RingMemory memory = RingMemory.Make(capacity);
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, new RingsFrame((uint)memory.Capacity, memory.Path), seed: 0, checkPayload: false);
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

    /// <summary>Opens the rings on the app's side.</summary>
    /// <exception cref="ProtocolViolation">P5.19.</exception>
    /// <exception cref="IOException">The rings cannot be opened.</exception>
    internal static RingStream Open(Socket socket, RingsFrame rings)
    {
        RingMemory memory = RingMemory.Open(rings);
        return new RingStream(socket, memory, memory.ReaderAtApp, memory.WriterFromApp);
    }

    public override int Receive(Span<byte> into)
    {
        while (true)
        {
            int count = _reader.TryRead(into);
            if (count > 0 || _ended) return count;
            // After the end the ring is read once more, for what was written before it.
            if (_reader.BeginWait()) _ended = _ends.Receive(_heard) == 0;
        }
    }

    public override void Send(ReadOnlySpan<byte> bytes)
    {
        while (true)
        {
            bytes = bytes[_writer.TryWrite(bytes, _bell)..];
            if (bytes.IsEmpty) return;
            _writer.AwaitRoom(_bell);
        }
    }

    public override int TrySend(ReadOnlySpan<byte> bytes) => _writer.TryWrite(bytes, _bell);

    public override bool HasEndedWithin(TimeSpan time) => _ends.HasEndedWithin(time);

    public override void End() => _ends.End();

    /// <summary>Gives the memory back, after the last call of any thread.</summary>
    public override void Dispose() => _memory.Dispose();
}
