using Ambrosia.Coordinator.Framing;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A frame for which there is no room stays where it is, and is neither received nor checked again.</summary>
public sealed class LinkFramesTests
{
    private const uint Seed = 42;

    /// <summary>
    /// Nothing counts the bytes that a checksum reads. So the bytes are changed between two feeds, which no connection does: whoever read
    /// them again would find that.
    /// </summary>
    [Fact]
    public void Feed_WhileThereIsNoRoom_ReadsThePayloadOnce()
    {
        var taker = new Taker { RoomAfter = 100 };
        var frames = new LinkFrames(Seed, FrameSender.Dialler, taker, static _ => { });
        byte[] bytes = Made.Frame(FrameType.Run, new byte[1 << 16], Seed, checkPayload: true);
        Assert.Equal(FeedResult.NoRoom, frames.Feed(bytes, drained: true, out int consumed));
        Assert.Equal(0, consumed);
        bytes[^1] ^= 1;
        while (frames.Feed(bytes, drained: true, out consumed) == FeedResult.NoRoom) Assert.Equal(0, consumed);
        Assert.Equal(bytes.Length, consumed);
        Assert.Equal([false, .. Enumerable.Repeat(true, 99)], taker.Taken);
    }

    [Fact]
    public void Feed_OfTheNextFrameOnceThereWasRoom_ChecksItAgain()
    {
        var taker = new Taker { RoomAfter = 2 };
        var frames = new LinkFrames(Seed, FrameSender.Dialler, taker, static _ => { });
        byte[] one = Made.Frame(FrameType.Run, new byte[100], Seed, checkPayload: true), two = [.. one, .. one];
        Assert.Equal(FeedResult.NoRoom, frames.Feed(two, drained: true, out _));
        two[^1] ^= 1;
        Assert.Throws<ProtocolViolation>(() => frames.Feed(two, drained: true, out _));
        Assert.Equal([false, true], taker.Taken);
        Assert.Equal("P2.5", taker.Violation!.Section);
    }

    private sealed class Taker : ILinkFrames
    {
        public required int RoomAfter { get; init; }

        public List<bool> Taken { get; } = [];

        public ProtocolViolation? Violation { get; private set; }

        public bool IsOver => false;

        public uint PayloadBytesMax => 1 << 20;

        public FeedResult Take(FrameType type, ReadOnlySpan<byte> payload, bool isAgain)
        {
            Taken.Add(isAgain);
            return Taken.Count < RoomAfter ? FeedResult.NoRoom : FeedResult.Continue;
        }

        public void Broken(ProtocolViolation violation) => Violation = violation;
    }
}
