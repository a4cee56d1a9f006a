using System.Buffers.Binary;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>Nothing is allocated per message, neither where it is sent nor where it is handled.</summary>
public sealed class AllocationTests
{
    private const int Messages = 100_000;

    /// <summary>64 MiB with the message's head.</summary>
    private const int Largest = (64 << 20) - 64, Slack = 2 << 20;
    private readonly FakeCoordinator _coordinator = Started<Load>();

    [Fact]
    public void Dispatch_OfForks_AllocatesNothing() =>
        Assert.Equal(0, AllocatedBy(MessageKind.Fork, 1, Cbor.Of(1000, 5), perFrame: 1000, frames: Messages / 1000));

    [Fact]
    public void Dispatch_OfSpans_AllocatesNothing() =>
        Assert.Equal(0, AllocatedBy(MessageKind.Fork, 2, new byte[100], perFrame: 1000, frames: Messages / 1000));

    [Fact]
    public void Send_OfForks_AllocatesNothing() =>
        Assert.Equal(0, AllocatedBy(MessageKind.Fork, 3, Cbor.Of(1000), perFrame: 10, frames: Messages / 10_000));

    [Fact]
    public void Answer_OfCalls_AllocatesNothing() =>
        Assert.Equal(0, AllocatedBy(MessageKind.Call, 4, Cbor.Of(1000), perFrame: 1000, frames: Messages / 1000));

    [Fact]
    public void Answer_OfCallsThatDoNotSuspend_AllocatesNothing() =>
        Assert.Equal(0, AllocatedBy(MessageKind.Call, 5, Cbor.Of(1000), perFrame: 1000, frames: Messages / 1000));

    /// <summary>An argument of 64 MiB is seen by its handler where it was received.</summary>
    [Fact]
    public void Argument_OfTheLargestSize_IsNotCopiedIntoItsHandler()
    {
        Assert.InRange(AllocatedBy(MessageKind.Fork, 2, new byte[Largest], perFrame: 1, frames: 2), 0, Slack);
        Assert.Equal(4L * Largest, _coordinator.Immortal<Load>().Sum);
    }

    /// <summary>
    /// It is encoded once, into the buffer that the socket is given: one-way and awaited, alone and among others, and as a result.
    /// </summary>
    [Theory]
    [InlineData(6)]
    [InlineData(8)]
    [InlineData(9)]
    [InlineData(10)]
    public void Argument_OfTheLargestSize_IsCopiedOnceWhenItIsSent(int method)
    {
        _coordinator.Immortal<Load>().Large = new byte[Largest];
        Assert.InRange(AllocatedBy(method == 10 ? MessageKind.Call : MessageKind.Fork, (uint)method, [], perFrame: 1, frames: 2),
            2 * Largest, 2 * (Largest + Slack));
    }

    /// <summary>The negative control: an array of its own is one copy.</summary>
    [Fact]
    public void Argument_ThatIsAnArray_IsOneCopy() =>
        Assert.InRange(AllocatedBy(MessageKind.Fork, 7, Cbor.Of(new byte[Largest - 16], 0), perFrame: 1, frames: 2), 2 * (Largest - 16),
            2 * (Largest + Slack));

    /// <summary>The negative control: the measurement sees an allocation a message.</summary>
    [Fact]
    public void Dispatch_OfFailingForks_IsSeenToAllocate() =>
        Assert.True(AllocatedBy(MessageKind.Fork, 99, [], perFrame: 10, frames: 10) > 100);

    private long AllocatedBy(MessageKind kind, uint method, byte[] arguments, int perFrame, int frames)
    {
        byte[] record = Run(kind, 1,
            [.. Enumerable.Range(1, perFrame).Select(i => (method, kind == MessageKind.Call ? (ulong)i : 0, arguments))]);
        var frame = new byte[FrameHeader.Bytes + DeliverHeader.Bytes + record.Length];
        new FrameHeader((uint)(frame.Length - FrameHeader.Bytes), FrameType.Deliver, 0).Write(frame, 0);
        record.CopyTo(frame, FrameHeader.Bytes + DeliverHeader.Bytes);
        ulong lsn = _coordinator.Next.Value;
        for (int i = 0; i < frames; i++) FeedOnce(frame, ref lsn);

        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < frames; i++) FeedOnce(frame, ref lsn);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private void FeedOnce(byte[] frame, ref ulong lsn)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(frame.AsSpan(FrameHeader.Bytes), lsn);
        lsn += (ulong)(frame.Length - FrameHeader.Bytes - DeliverHeader.Bytes);
        if (_coordinator.Session.Feed(frame) != frame.Length) throw new InvalidOperationException("not consumed");
        _coordinator.Session.InputDry();
        while (_coordinator.Session.TryTakeOutput(out ReadOnlyMemory<byte> bytes)) _coordinator.Session.OutputTaken(bytes.Length);
    }
}
