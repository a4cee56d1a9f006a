using System.Net.Sockets;

namespace Ambrosia.AppChannel;

/// <summary>
/// Carries the bytes between an app and its coordinator, both ways and in order. One thread receives and one sends at a time; they need not
/// know of each other. However a stream ends, what was sent before the end is received before the end is.
/// </summary>
public abstract class AppStream : IDisposable
{
    /// <summary>Waits for bytes.</summary>
    /// <returns>Number of bytes; 0 when either side has ended the stream.</returns>
    public abstract int Receive(Span<byte> into);

    /// <summary>Sends all of it, waiting as long as the other side leaves no room.</summary>
    /// <exception cref="SocketException">The other side is gone.</exception>
    public abstract void Send(ReadOnlySpan<byte> bytes);

    /// <summary>Sends what there is room for, without waiting.</summary>
    /// <returns>Number of bytes sent, from 0 on.</returns>
    /// <exception cref="SocketException">The other side is gone.</exception>
    public abstract int TrySend(ReadOnlySpan<byte> bytes);

    /// <summary>
    /// Waits until either side has ended the stream, while other threads send and receive; what was sent before the end may still be there
    /// to be received. False: it has not ended within this time. On systems other than Linux nothing is known of it.
    /// </summary>
    public abstract bool HasEndedWithin(TimeSpan time);

    /// <summary>Ends both directions and the calls that wait. It may be called more than once, and after the other side has gone.</summary>
    public abstract void End();

    public abstract void Dispose();
}
