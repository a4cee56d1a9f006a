using System.Net.Sockets;

namespace CRA;

/// <summary>
/// The bytes of one authenticated connection: as they are, or through TLS. One thread receives; sends come from one thread at a time,
/// beside it. Any thread may shut it down, which ends the calls that others are blocked in.
/// </summary>
internal abstract class LinkStream(Socket socket) : IDisposable
{
    protected Socket Socket { get; } = socket;

    /// <summary>Waits for bytes: how many came; 0 at the end of the stream; -1 when none came in time.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int Receive(Memory<byte> into, int timeoutMs);

    /// <summary>Behind the bytes just received, into room for so many, nothing more has arrived.</summary>
    public abstract bool IsDrainedBy(int received, int room);

    /// <summary>Waits until at least one byte was taken; returns how many were.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int Send(ReadOnlyMemory<byte> bytes);

    /// <summary>Takes what there is room for without waiting; 0 when there is none.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public abstract int TrySend(ReadOnlyMemory<byte> bytes);

    /// <summary>Bytes that were taken and not yet handed to the socket. Owned by the sending side.</summary>
    public virtual bool HasUnflushed => false;

    /// <summary>Waits until everything taken was handed to the socket.</summary>
    /// <exception cref="SocketException">The connection broke.</exception>
    public virtual void Flush()
    {
    }

    /// <summary>Our last byte was sent; the other side may still send.</summary>
    public void EndSending() => LinkSocket.Shutdown(Socket, SocketShutdown.Send);

    /// <summary>Ends both directions at once.</summary>
    public void Abort() => LinkSocket.Shutdown(Socket, SocketShutdown.Both);

    public virtual void Dispose() => Socket.Dispose();
}
