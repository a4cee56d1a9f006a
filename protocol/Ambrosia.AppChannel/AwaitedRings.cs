using System.Net.Sockets;
using Ambrosia.Protocol;

namespace Ambrosia.AppChannel;

/// <summary>
/// The app's side of a channel whose coordinator offers rings: its hello goes through the socket, the answer to it says where the rings
/// are, and everything else goes through them (P5.19). A refusal comes through the socket.
/// </summary>
public sealed class AwaitedRings(Socket socket) : AppStream
{
    private readonly byte[] answer = new byte[FrameHeader.Bytes + Frames.ControlBytesMax];
    private volatile AppStream stream = new SocketStream(socket);
    private int received;

    /// <summary>What is sent from here on goes through them.</summary>
    internal bool HasRings => stream is RingStream;

    /// <exception cref="ProtocolViolation">P5.19.</exception>
    /// <exception cref="IOException">The rings cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The rings cannot be opened.</exception>
    public override int Receive(Span<byte> into)
    {
        while (stream is SocketStream)
        {
            int count = stream.Receive(answer.AsSpan(received));
            received += count;
            DecodeStatus status = FrameReader.TryRead(answer.AsSpan(0, received), 0, Frames.ControlBytesMax, checkPayload: false,
                out FrameHeader header, out ReadOnlySpan<byte> payload, out _);
            if (status != DecodeStatus.Ok && count > 0) continue;
            if (status == DecodeStatus.Ok && header.Type == FrameType.Rings) stream = RingStream.Open(socket, RingsFrame.Read(payload));
            else return Refusal(into);
        }
        return stream.Receive(into);
    }

    private int Refusal(Span<byte> into)
    {
        int count = Math.Min(received, into.Length);
        answer.AsSpan(0, count).CopyTo(into);
        received = 0;
        return count;
    }

    public override void Send(ReadOnlySpan<byte> bytes) => stream.Send(bytes);

    public override int TrySend(ReadOnlySpan<byte> bytes) => stream.TrySend(bytes);

    public override void End() => stream.End();

    public override void Dispose() => stream.Dispose();
}
