using System.Buffers;
using System.Net.Sockets;
using Ambrosia.AppChannel;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Binding.Tests;

/// <summary>Rings of shared memory between the two ends of a real connection (P5.19).</summary>
public sealed class RingStreamTests : IDisposable
{
    private const int Capacity = 64 * 1024;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-ring-");
    private readonly Socket _here, _there;

    public RingStreamTests()
    {
        string path = Path.Combine(_folder.FullName, "s");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        _there = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        _there.Connect(new UnixDomainSocketEndPoint(path));
        _here = listener.Accept();
        // A test that would wait for ever fails instead.
        _here.ReceiveTimeout = _there.ReceiveTimeout = 60_000;
    }

    public void Dispose()
    {
        _here.Dispose();
        _there.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public async Task BothWays_PiecesOfAnyLength_ArriveWholeAndInOrder()
    {
        const int bytes = 24 << 20;
        using RingStream coordinator = RingStream.Offer(_here, Capacity);
        using var app = new AwaitedRings(_there);
        Task<int> toApp = Task.Run(() => WrongBytes(app, bytes, seed: 1)),
            fromApp = Task.Run(() => WrongBytes(coordinator, bytes, seed: 2));
        Task send = Task.Run(() => Send(coordinator, bytes, seed: 3));
        Assert.True(SpinWait.SpinUntil(() => app.HasRings, TimeSpan.FromSeconds(60)), "the rings never came");
        Send(app, bytes, seed: 4);
        await send;
        Assert.Equal((0, 0), (await toApp, await fromApp));
    }

    [Fact]
    public void Receive_OtherSideEnds_HasWhatItSentBefore()
    {
        (RingStream coordinator, AwaitedRings app) = Joined();
        app.Send([7, 8, 9]);
        app.End();
        byte[] got = new byte[8];
        Assert.Equal(3, coordinator.Receive(got));
        Assert.Equal([7, 8, 9], got[..3]);
        Assert.Equal(0, coordinator.Receive(got));
    }

    [Fact]
    public async Task Send_OtherSideLeavesTheRingFull_FailsWhenItEnds()
    {
        (RingStream coordinator, AwaitedRings app) = Joined();
        Task send = Task.Run(() => coordinator.Send(new byte[3 * Capacity]));
        _there.Dispose();
        await Assert.ThrowsAsync<SocketException>(() => send.WaitAsync(TimeSpan.FromSeconds(60)));
        GC.KeepAlive(app);
    }

    [Fact]
    public void TrySend_RingIsFull_TakesMoreWhenSomeWasRead()
    {
        (RingStream coordinator, AwaitedRings app) = Joined();
        Assert.Equal(Capacity, coordinator.TrySend(new byte[Capacity + 1]));
        Assert.Equal(0, coordinator.TrySend([1]));
        Assert.Equal(100, app.Receive(new byte[100]));
        Assert.Equal(100, coordinator.TrySend(new byte[200]));
    }

    [Fact]
    public void Receive_PositionsThatCannotBe_AreRefused()
    {
        (RingStream coordinator, AwaitedRings app) = Joined(out RingsFrame rings);
        Overwrite(rings, Ring.BytesAt + Capacity + Ring.WrittenAt, Capacity + 2);
        Assert.Equal("P5.19", Assert.Throws<ProtocolViolation>(() => coordinator.Receive(new byte[8])).Section);
        Overwrite(rings, Ring.ReadAt, 2);
        Assert.Throws<SocketException>(() => coordinator.Send([1]));
        GC.KeepAlive(app);
    }

    [Fact]
    public void App_CoordinatorRefusesIt_ReadsTheReason()
    {
        using var app = new AwaitedRings(_there);
        app.Send([1, 2, 3]); // its hello goes through the socket
        byte[] hello = new byte[8];
        Assert.Equal(3, _here.Receive(hello));
        var goodbye = new ArrayBufferWriter<byte>();
        FrameWriter.Write(goodbye, new Goodbye(GoodbyeCode.Refused, "no"), 0, checkPayload: false);
        _here.Send(goodbye.WrittenSpan);
        byte[] got = new byte[100];
        Assert.Equal(goodbye.WrittenCount, app.Receive(got));
        Assert.Equal(goodbye.WrittenSpan.ToArray(), got[..goodbye.WrittenCount]);
        _here.Shutdown(SocketShutdown.Both);
        Assert.Equal(0, app.Receive(got));
    }

    [Fact]
    public void App_RingsOfAnotherLength_RefusesThem()
    {
        string path = Path.Combine(_folder.FullName, "short");
        File.WriteAllBytes(path, new byte[100]);
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, new RingsFrame(Capacity, path), 0, checkPayload: false);
        _here.Send(frame.WrittenSpan);
        using var app = new AwaitedRings(_there);
        Assert.Equal("P5.19", Assert.Throws<ProtocolViolation>(() => app.Receive(new byte[8])).Section);
    }

    [Fact]
    public void Socket_ClosedByItsOwner_IsAnEndForEveryCall()
    {
        var stream = new SocketStream(_there);
        _there.Dispose();
        Assert.Throws<SocketException>(() => stream.TrySend([1]));
        Assert.Throws<SocketException>(() => stream.Send([1]));
        Assert.Equal(0, stream.Receive(new byte[8]));
        stream.End();
    }

    private (RingStream, AwaitedRings) Joined() => Joined(out _);

    /// <summary>Both ends, after a byte each way.</summary>
    private (RingStream, AwaitedRings) Joined(out RingsFrame rings)
    {
        RingStream coordinator = RingStream.Offer(_here, Capacity);
        byte[] offered = new byte[2048];
        int size = _there.Receive(offered, SocketFlags.Peek);
        rings = RingsFrame.Read(offered.AsSpan(FrameHeader.Bytes, size - FrameHeader.Bytes));
        var app = new AwaitedRings(_there);
        coordinator.Send([1]);
        Assert.Equal(1, app.Receive(new byte[8]));
        app.Send([2]);
        Assert.Equal(1, coordinator.Receive(new byte[8]));
        return (coordinator, app);
    }

    private static void Overwrite(RingsFrame rings, int at, ulong value)
    {
        using Microsoft.Win32.SafeHandles.SafeFileHandle memory = File.OpenHandle(rings.Path, FileMode.Open, FileAccess.ReadWrite,
            FileShare.ReadWrite);
        RandomAccess.Write(memory, BitConverter.GetBytes(value), at);
    }

    private static byte At(long position) => (byte)(position * 31 + (position >> 12));

    private static void Send(AppStream stream, int bytes, int seed)
    {
        var chance = new Random(seed);
        byte[] piece = new byte[3 * Capacity];
        for (int sent = 0; sent < bytes;)
        {
            int length = Math.Min(bytes - sent, chance.Next(4) == 0 ? chance.Next(1, piece.Length) : chance.Next(1, 300));
            for (int i = 0; i < length; i++) piece[i] = At(sent + i);
            int tried = chance.Next(2) == 0 ? stream.TrySend(piece.AsSpan(0, length)) : 0;
            stream.Send(piece.AsSpan(tried, length - tried));
            sent += length;
        }
    }

    private static int WrongBytes(AppStream stream, int bytes, int seed)
    {
        var chance = new Random(seed);
        byte[] piece = new byte[2 * Capacity];
        int wrong = 0;
        for (int got = 0; got < bytes;)
        {
            int received = stream.Receive(piece.AsSpan(0, chance.Next(1, piece.Length)));
            if (received == 0) return bytes - got; // ended early
            for (int i = 0; i < received; i++) wrong += piece[i] == At(got + i) ? 0 : 1;
            got += received;
        }
        return wrong;
    }
}
