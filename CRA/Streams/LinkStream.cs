using System.Net.Sockets;
using Ambrosia.Protocol.Locking;

namespace CRA.Streams;

/// <summary>
/// Carries the bytes of one authenticated connection, as they are or through TLS. One thread receives; beside it one thread at a time
/// sends. Any thread may shut it down, which ends the calls that others are blocked in.
/// </summary>
internal abstract class LinkStream(Socket socket) : IDisposable
{
    protected Socket Socket { get; } = socket;

    /// <summary>Waits for bytes; returns how many came, 0 at the end of the stream, and -1 when none came in time.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int Receive(Memory<byte> into, int timeoutMs);

    /// <summary>Returns whether nothing has arrived behind the bytes just received into this much room.</summary>
    public abstract bool IsDrainedBy(int received, int room);

    /// <summary>Waits until at least one byte was taken; returns how many were.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int Send(ReadOnlyMemory<byte> bytes);

    /// <summary>Takes what there is room for without waiting; returns 0 when there is none.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int TrySend(ReadOnlyMemory<byte> bytes);

    /// <summary>Bytes were taken that are not yet handed to the socket. The sending side owns it.</summary>
    public virtual bool HasUnflushed => false;

    /// <summary>Waits until everything taken was handed to the socket.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public virtual void Flush()
    {
    }

    /// <summary>Ends our direction after the last byte; the other side may still send.</summary>
    public void EndSending() => LinkSocket.Shutdown(Socket, SocketShutdown.Send);

    /// <summary>Ends both directions at once.</summary>
    public void Abort() => LinkSocket.Shutdown(Socket, SocketShutdown.Both);

    public virtual void Dispose() => Socket.Dispose();
}

/// <summary>
/// Carries bytes to the socket as they are, without a copy: on the machine's own loopback, or on a network that its operator trusts.
/// </summary>
internal sealed class PlainStream(Socket socket) : LinkStream(socket)
{
    /// <summary>The receive timeout in force; 0 before the first. The receiving thread uses it.</summary>
    private int _timeoutMs;

    public override int Receive(Memory<byte> into, int timeoutMs)
    {
        LockChecks.BeforeWait();
        if (timeoutMs != _timeoutMs) Socket.ReceiveTimeout = _timeoutMs = timeoutMs;
        int received = Socket.Receive(into.Span, SocketFlags.None, out SocketError error);
        if (error == SocketError.Success) return received;
        return error is SocketError.TimedOut or SocketError.WouldBlock ? -1 : throw new SocketException((int)error);
    }

    // A full buffer does not tell whether there is more.
    public override bool IsDrainedBy(int received, int room) => received < room || Socket.Available == 0;

    public override int Send(ReadOnlyMemory<byte> bytes)
    {
        LockChecks.BeforeWait();
        return Socket.Send(bytes.Span);
    }

    public override int TrySend(ReadOnlyMemory<byte> bytes) => LinkSocket.TrySend(Socket, bytes.Span);
}
