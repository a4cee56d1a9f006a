using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.AppChannel;

/// <summary>
/// Carries the app's side of a channel whose coordinator offers rings. The hello goes through the socket, the answer says where the rings
/// are, and everything else goes through them (P5.19). A refusal comes through the socket.
/// </summary>
public sealed class AwaitedRings(Socket socket) : AppStream
{
    private readonly byte[] _answer = new byte[FrameHeader.Bytes + SizeLimits.ControlBytesMax];
    private volatile AppStream _stream = new SocketStream(socket);
    private int _received;

    /// <summary>True when the rings are open, so that everything goes through them.</summary>
    internal bool HasRings => _stream is RingStream;

    /// <exception cref="ProtocolViolation">P5.19.</exception>
    /// <exception cref="IOException">The rings cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The rings cannot be opened.</exception>
    public override int Receive(Span<byte> into)
    {
        while (_stream is SocketStream)
        {
            int count = _stream.Receive(_answer.AsSpan(_received));
            _received += count;
            DecodeStatus status = FrameReader.TryRead(_answer.AsSpan(0, _received), 0, SizeLimits.ControlBytesMax, checkPayload: false,
                out FrameHeader header, out ReadOnlySpan<byte> payload, out _);
            if (status != DecodeStatus.Ok && count > 0) continue;
            if (status == DecodeStatus.Ok && header.Type == FrameType.Rings) _stream = RingStream.Open(socket, RingsFrame.Read(payload));
            else return Refusal(into);
        }
        return _stream.Receive(into);
    }

    private int Refusal(Span<byte> into)
    {
        int count = Math.Min(_received, into.Length);
        _answer.AsSpan(0, count).CopyTo(into);
        _received = 0;
        return count;
    }

    public override void Send(ReadOnlySpan<byte> bytes) => _stream.Send(bytes);

    public override int TrySend(ReadOnlySpan<byte> bytes) => _stream.TrySend(bytes);

    public override bool HasEndedWithin(TimeSpan time) => _stream.HasEndedWithin(time);

    public override void End() => _stream.End();

    public override void Dispose() => _stream.Dispose();
}
