using Ambrosia.TestKit;
using CRA.Links;
using CRA.Streams;

namespace CRA.Tests;

/// <summary>Peers are authenticated, and yet what all of them together make a process hold has a bound.</summary>
public sealed class SharedMemoryTests
{
    private const int FrameBytes = 4 << 20, PartBytes = 1_500_000;
    private const long BytesMax = 8 << 20;

    /// <summary>
    /// Sixteen peers leave a large frame in the middle, of which four have room: the others' connections end and say why, those that have
    /// room live on, and so does a peer with ordinary frames. What ended gives its bytes back.
    /// </summary>
    [Fact]
    public void Receive_PartsOfManyLargeFrames_KeepsTheBound()
    {
        SharedBytes shared = new(BytesMax);
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Receiving = shared });
        List<(LinkConnection Dialled, LinkConnection Accepted, LargeFrame Taker)> pairs = [];
        try
        {
            for (int i = 0; i < 16; i++)
            {
                (LinkConnection dialled, LinkConnection accepted) = links.Pair();
                var sender = new QueueTraffic();
                var taker = new LargeFrame(FrameBytes);
                sender.Queue(new byte[PartBytes]);
                dialled.Run(sender);
                accepted.Run(taker);
                pairs.Add((dialled, accepted, taker));
            }
            Deadline.Await(() => pairs.All(static pair => pair.Taker.Why is not null || pair.Taker.HeldBytes >= PartBytes), "the parts");
            string[] ends = [.. pairs.Select(static pair => pair.Taker.Why).OfType<string>()];
            Assert.InRange(ends.Length, 8, 15);
            Assert.All(ends, static why => Assert.Contains($"{BytesMax} is the bound", why));
            Assert.InRange(shared.Held, 1, BytesMax);
            Assert.True(shared.Refused >= ends.Length);

            (LinkConnection one, LinkConnection other) = links.Pair();
            QueueTraffic small = new(), received = new();
            small.Queue(new byte[100_000]);
            one.Run(small);
            other.Run(received);
            Deadline.Await(() => received.ReceivedBytes == 100_000, "the ordinary frame");
            one.Dispose();
            other.Dispose();
        }
        finally
        {
            foreach ((LinkConnection dialled, LinkConnection accepted, _) in pairs)
            {
                dialled.Dispose();
                accepted.Dispose();
            }
        }
        Deadline.Await(() => shared.Held == 0, "the bytes that were given back");
    }

    /// <summary>A frame that is larger than the bound comes through while no other is under way.</summary>
    [Fact]
    public void TryChange_OfOneAlone_MayPassTheBound()
    {
        SharedBytes shared = new(100);
        Assert.True(shared.TryChange(0, 250));
        Assert.False(shared.TryChange(0, 1));
        Assert.True(shared.TryChange(250, 500));
        Assert.True(shared.TryChange(500, 60));
        Assert.True(shared.TryChange(0, 40));
        Assert.False(shared.TryChange(40, 41));
        Assert.Equal((100, 2), (shared.Held, shared.Refused));
    }

    /// <summary>Takes nothing until a frame of so many bytes is whole.</summary>
    private sealed class LargeFrame(int frameBytes) : ILinkTraffic
    {
        private int _held;

        public int HeldBytes => Volatile.Read(ref _held);

        public string? Why { get; private set; }

        public ReadOnlyMemory<byte> HeartbeatFrame => default;

        public int FrameBytesWanted => frameBytes;

        public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
        {
            consumed = bytes.Length >= frameBytes ? frameBytes : 0;
            Volatile.Write(ref _held, bytes.Length);
            return FeedResult.Continue;
        }

        public void WaitForRoom(CancellationToken stop)
        {
        }

        public bool TryTake(out ReadOnlyMemory<byte> bytes)
        {
            bytes = default;
            return false;
        }

        public void Taken(int bytes)
        {
        }

        public void Ended(string why) => Why = why;
    }
}
