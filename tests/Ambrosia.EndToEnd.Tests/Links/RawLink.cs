using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A peer that is a bare socket: it knows the catalog's secret and says what a test wants it to say.</summary>
internal sealed class RawLink : IDisposable
{
    private readonly byte[] received = new byte[8192];
    private int held;

    public RawLink(IPEndPoint address, byte[] secret, byte[] nonce)
    {
        Socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = (int)Cluster.Patience.TotalMilliseconds };
        Socket.Connect(address);
        LinkAuthentication side = LinkAuthentication.Dialler(secret, nonce);
        byte[] reply = new byte[LinkAuthentication.ReplyBytesMax];
        int count = 0;
        while (true)
        {
            AuthStatus status = side.Feed(received.AsSpan(0, count), out _, reply, out int replyBytes);
            Socket.Send(reply.AsSpan(0, replyBytes));
            if (status == AuthStatus.Done) break;
            count = Socket.Receive(received.AsSpan(0, side.BytesWanted));
            Assert.NotEqual(0, count);
        }
        Seed = side.Seed;
    }

    public Socket Socket { get; }

    public uint Seed { get; }

    public void Send<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        Frames.Write(frame, payload, Seed, checkPayload: true);
        Socket.Send(frame.WrittenSpan);
    }

    public byte[] Empty(FrameType type)
    {
        var frame = new ArrayBufferWriter<byte>();
        Frames.Write(frame, type, [], Seed, checkPayload: true);
        return frame.WrittenSpan.ToArray();
    }

    /// <summary>The first frame of this type that comes, and its payload; others are passed over.</summary>
    public byte[] Await(FrameType type)
    {
        while (true)
        {
            if (FrameReader.TryRead(received.AsSpan(0, held), Seed, 4096, true, out FrameHeader header, out ReadOnlySpan<byte> payload, out int size) != DecodeStatus.Ok)
            {
                int count = Socket.Receive(received.AsSpan(held));
                Assert.NotEqual(0, count);
                held += count;
                continue;
            }
            byte[] found = payload.ToArray();
            received.AsSpan(size, held - size).CopyTo(received);
            held -= size;
            if (header.Type == type) return found;
        }
    }

    public void Dispose() => Socket.Dispose();
}
