using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// A connection that came in: its first frame says whether a peer or a caller outside is at the other end (protocol P10.1), and from then
/// on it is what that is. Until then nothing is sent. The threads of the connection; who it is changes once, on the in thread.
/// </summary>
/// <param name="peer">What it is if it is a peer; null: no peers are taken, and such a connection is closed.</param>
/// <param name="newCaller">Makes the session of a caller outside.</param>
internal sealed class AcceptedConnection(ILinkTraffic? peer, Func<ILinkTraffic> newCaller) : ILinkTraffic
{
    /// <summary>A frame's type stands at this offset in its header.</summary>
    private const int TypeAt = 4;

    private volatile ILinkTraffic? _other;

    public int FrameBytesWanted => _other?.FrameBytesWanted ?? 0;

    public ReadOnlyMemory<byte> HeartbeatFrame => _other?.HeartbeatFrame ?? default;

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        if (_other is null)
        {
            if (bytes.Length < FrameHeader.Bytes) return FeedResult.Continue;
            _other = (FrameType)bytes[TypeAt] == FrameType.ClientHello ? newCaller() : peer; // which checks the frame as a whole
            if (_other is null) return FeedResult.Close;
        }
        return _other.Feed(bytes, drained, out consumed);
    }

    public void WaitForRoom(CancellationToken stop) => _other!.WaitForRoom(stop);

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        if (_other is { } known) return known.TryTake(out bytes);
        bytes = default;
        return false;
    }

    public void Taken(int bytes) => _other!.Taken(bytes);

    public void Ended(string why) => (_other ?? peer)?.Ended(why);
}
