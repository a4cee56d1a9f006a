using System.Buffers.Binary;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// What one connection costs until it is known who speaks, counted to the byte, at both doors: at most 64 KiB whatever it sends.
/// </summary>
public sealed class StrangerMemoryTests
{
    private const long BytesMax = 64 * 1024;
    private const uint Seed = 42;

    /// <summary>What the link's receive buffer grows to for the longest hello; CRA's own tests hold it to that.</summary>
    private const long ReceiveBufferBytes = 32 * 1024;

    private static readonly SimulatedRandom s_random = new(1);

    public static TheoryData<string> Kinds =>
        ["garbage", "huge length", "wrong magic", "wrong instance", "half hello", "longest hello", "run first"];

    private static byte[] Sent(string kind, uint seed, bool isLink)
    {
        byte[] hello = isLink
            ? Made.Frame(
                new Hello(1, 1, Guid.NewGuid(), new InstanceId("x"), "r0", new Epoch(1), 1, "another", Guid.Empty, default, 0, 0, 0,
                    default, 0, 1 << 20), seed, true)
            : Made.Frame(new AppHello(1, 1, new byte[32], 1, 0, "test", "test", "", "", 0, 1));
        byte[] garbage = new byte[1 << 20];
        s_random.NextBytes(garbage);
        return kind switch
        {
            "garbage" => garbage,
            "huge length" => HeaderOf(0xFFFF_FFF0, seed),
            "wrong magic" => "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"u8.ToArray(),
            "wrong instance" => hello,
            "half hello" => hello[..40],
            "longest hello" =>
                Made.Frame(isLink ? FrameType.Hello : FrameType.AppHello, garbage.AsSpan(0, SizeLimits.ControlBytesMax), seed, isLink),
            _ => Made.Frame(FrameType.Run, Made.Run(MessageKind.Fork, 1, 0, [Made.Message(MessageKind.Fork, 1, 3)]), seed, isLink),
        };
    }

    private static byte[] HeaderOf(uint length, uint seed)
    {
        byte[] header = new byte[FrameHeader.Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(header, length);
        header[4] = (byte)FrameType.Hello;
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(12), Crc32C.Append(seed, header.AsSpan(0, 12)));
        return header;
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void AppDoor_Stranger_CostsAtMost64KiB(string kind)
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        byte[] sent = Sent(kind, 0, isLink: false);
        foreach (int piece in new[] { int.MaxValue, 1, 1 << 10 }) // at once, byte by byte, in between
        {
            AtAppDoor(node, sent, piece); // what is made once a process is made
            Assert.InRange(AtAppDoor(node, sent, piece), 1, BytesMax);
        }
    }

    /// <summary>Negative control: who has shown the token gets a block of a MiB, and the count sees it.</summary>
    [Fact]
    public void AppDoor_TheAppItself_CostsMore()
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small);
        byte[] hello = Made.Frame(new AppHello(1, 1, Node.Token, 1, 0, "test", "test", "", "", 0, 1));
        Assert.InRange(AtAppDoor(node, hello, int.MaxValue), BlockPool.BlockBytes, long.MaxValue);
    }

    private static long AtAppDoor(Node node, byte[] sent, int piece)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        AppSession session = node.Parts.NewSession(static () => { });
        session.IsPatient = true;
        AppReader reader = session.NewReader();
        try
        {
            for (int at = 0; at < sent.Length;)
            {
                Span<byte> space = reader.Space().Span;
                int count = Math.Min(Math.Min(piece, space.Length), sent.Length - at);
                sent.AsSpan(at, count).CopyTo(space);
                reader.Received(count);
                at += count;
            }
            reader.Space();
        }
        catch (Exception e) when (e is ProtocolViolation or AppLeftException)
        {
        }
        while (session.TryTake(out ReadOnlyMemory<byte> bytes) && bytes.Length > 0) session.Taken();
        session.End("over");
        reader.Dispose();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void LinkDoor_BeforeItsHelloIsAccepted_CostsAtMost64KiB(string kind)
    {
        using var side = new Side("s");
        byte[] sent = Sent(kind, Seed, isLink: true);
        foreach (int piece in new[] { int.MaxValue, 1, 1 << 10 })
        {
            AtLinkDoor(side, sent, piece);
            Assert.InRange(AtLinkDoor(side, sent, piece), 1, BytesMax - ReceiveBufferBytes);
        }
    }

    /// <summary>Feeds as the receiving pump does: what is not consumed comes again, with more.</summary>
    private static long AtLinkDoor(Side side, byte[] sent, int piece)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        PeerLink link = side.Accept(Seed);
        try
        {
            for (int from = 0, to = 0; to < sent.Length;)
            {
                to = Math.Min(sent.Length, (int)Math.Min((long)to + piece, from + ReceiveBufferBytes));
                if (link.Feed(sent.AsSpan(from, to - from), drained: true, out int consumed) == FeedResult.Close) break;
                from += consumed;
                if (link.FrameBytesWanted > FrameHeader.Bytes + SizeLimits.ControlBytesMax)
                    Assert.Fail($"a stranger makes us wait for {link.FrameBytesWanted} bytes");
            }
        }
        catch (ProtocolViolation)
        {
        }
        while (link.TryTake(out ReadOnlyMemory<byte> bytes)) link.Taken(bytes.Length);
        link.Ended("over");
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
