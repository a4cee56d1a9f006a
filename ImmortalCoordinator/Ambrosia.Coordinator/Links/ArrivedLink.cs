using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator;

/// <summary>
/// A connection that came in: its first frame says whether a peer or a caller outside is at the other end (protocol P10.1), and from then
/// on it is what that is. Until then nothing is sent. The threads of the connection; who it is changes once, on the in thread.
/// </summary>
/// <param name="peer">What it is if it is a peer; null: no peers are taken, and such a connection is closed.</param>
/// <param name="newCaller">Makes the session of a caller outside.</param>
internal sealed class ArrivedLink(ILinkTraffic? peer, Func<ILinkTraffic> newCaller) : ILinkTraffic
{
    /// <summary>Where a frame's type stands in its header.</summary>
    private const int TypeAt = 4;

    private volatile ILinkTraffic? other;

    public int FrameBytesWanted => other?.FrameBytesWanted ?? 0;

    public ReadOnlyMemory<byte> HeartbeatFrame => other?.HeartbeatFrame ?? default;

    public FeedAnswer Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        if (other is null)
        {
            if (bytes.Length < FrameHeader.Bytes) return FeedAnswer.Continue;
            other = (FrameType)bytes[TypeAt] == FrameType.ClientHello ? newCaller() : peer; // which checks the frame as a whole
            if (other is null) return FeedAnswer.Close;
        }
        return other.Feed(bytes, drained, out consumed);
    }

    public void WaitForRoom(CancellationToken stop) => other!.WaitForRoom(stop);

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        if (other is { } known) return known.TryTake(out bytes);
        bytes = default;
        return false;
    }

    public void Taken(int bytes) => other!.Taken(bytes);

    public void Ended(string why) => (other ?? peer)?.Ended(why);
}
