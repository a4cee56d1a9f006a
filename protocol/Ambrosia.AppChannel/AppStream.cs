using System.Net.Sockets;

namespace Ambrosia.AppChannel;

/// <summary>
/// The bytes between an app and its coordinator, both ways, in order. One thread receives and one sends at a time; the two need not know of
/// one another. What was sent before an end, however it came, is received before the end is.
/// </summary>
public abstract class AppStream : IDisposable
{
    /// <summary>Waits for bytes.</summary>
    /// <returns>How many; 0: the other side has ended, or this one.</returns>
    public abstract int Receive(Span<byte> into);

    /// <summary>Sends all of it, waiting as long as the other side leaves no room.</summary>
    /// <exception cref="SocketException">The other side is gone.</exception>
    public abstract void Send(ReadOnlySpan<byte> bytes);

    /// <summary>Sends what there is room for without waiting.</summary>
    /// <returns>Bytes sent, from 0 on.</returns>
    /// <exception cref="SocketException">The other side is gone.</exception>
    public abstract int TrySend(ReadOnlySpan<byte> bytes);

    /// <summary>Ends both directions and the calls that wait; more than once and when the other side has gone, too.</summary>
    public abstract void End();

    public abstract void Dispose();
}
