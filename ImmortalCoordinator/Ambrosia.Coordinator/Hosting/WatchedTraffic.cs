using CRA.Links;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Shows whether the two pumps of a connection get on: what they ask of the traffic is work, and what they wait for is none. It owns their
/// two entries, until the connection ends. The threads of the connection.
/// </summary>
internal sealed class WatchedTraffic(ILinkTraffic traffic, PumpProgress progress) : ILinkTraffic
{
    private readonly PumpWork _in = progress.Enter("link-in"), _out = progress.Enter("link-out");

    public int FrameBytesWanted => traffic.FrameBytesWanted;

    public ReadOnlyMemory<byte> HeartbeatFrame => traffic.HeartbeatFrame;

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        _in.Begin();
        try
        {
            return traffic.Feed(bytes, drained, out consumed);
        }
        finally
        {
            _in.End(); // also where the other side broke the protocol: its goodbye may take a while
        }
    }

    public void WaitForRoom(CancellationToken stop) => traffic.WaitForRoom(stop);

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        _out.Begin();
        bool isAny = traffic.TryTake(out bytes);
        _out.End();
        return isAny;
    }

    public void Taken(int bytes) => traffic.Taken(bytes);

    public void Ended(string why)
    {
        _in.Dispose();
        _out.Dispose();
        traffic.Ended(why);
    }
}
