using System.Net.Sockets;

namespace CRA;

/// <summary>
/// A connection on a machine's own loopback (or on a network that its operator trusts): bytes go to the socket as they are, without a copy.
/// </summary>
internal sealed class PlainStream(Socket socket) : LinkStream(socket)
{
    // The receive timeout in force; 0: none yet. Used by the receiving thread.
    private int _timeoutMs;

    public override int Receive(Memory<byte> into, int timeoutMs)
    {
        if (timeoutMs != _timeoutMs) Socket.ReceiveTimeout = _timeoutMs = timeoutMs;
        int received = Socket.Receive(into.Span, SocketFlags.None, out SocketError error);
        if (error == SocketError.Success) return received;
        return error is SocketError.TimedOut or SocketError.WouldBlock ? -1 : throw new SocketException((int)error);
    }

    // A full buffer does not tell whether there is more.
    public override bool IsDrainedBy(int received, int room) => received < room || Socket.Available == 0;

    public override int Send(ReadOnlyMemory<byte> bytes) => Socket.Send(bytes.Span);

    public override int TrySend(ReadOnlyMemory<byte> bytes) => LinkSocket.TrySend(Socket, bytes.Span);
}
