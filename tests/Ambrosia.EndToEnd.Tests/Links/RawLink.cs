using System.Buffers;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using CRA.Authentication;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A peer that is a bare socket: it knows the catalog's secret and says what a test wants it to say.</summary>
internal sealed class RawLink : IDisposable
{
    private byte[] _received = new byte[8192];
    private int _held;

    /// <param name="receiveBytes">Size of the system's receive buffer; 0: its own choice.</param>
    /// <exception cref="SocketException">Nobody is there, or closed.</exception>
    public RawLink(IPEndPoint address, byte[] secret, byte[] nonce, int receiveBytes = 0)
    {
        Socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp)
        {
            NoDelay = true, ReceiveTimeout = (int)Cluster.Patience.TotalMilliseconds
        };
        if (receiveBytes > 0) Socket.ReceiveBufferSize = receiveBytes;
        try
        {
            Socket.Connect(address);
            Seed = Authenticate(LinkAuthentication.Dialler(secret, nonce, address.ToString()));
        }
        catch
        {
            Socket.Dispose();
            throw;
        }
    }

    public Socket Socket { get; }

    public uint Seed { get; }

    private uint Authenticate(LinkAuthentication side)
    {
        byte[] reply = new byte[LinkAuthentication.ReplyBytesMax];
        int count = 0;
        while (true)
        {
            AuthenticationStatus status = side.Feed(_received.AsSpan(0, count), out _, reply, out int replyBytes);
            Socket.Send(reply.AsSpan(0, replyBytes));
            if (status == AuthenticationStatus.Done) return side.Seed;
            count = Socket.Receive(_received.AsSpan(0, side.BytesWanted));
            if (count == 0) throw new SocketException((int)SocketError.ConnectionReset);
        }
    }

    public void Send<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, payload, Seed, checkPayload: true);
        Socket.Send(frame.WrittenSpan);
    }

    public void Send(FrameType type, ReadOnlySpan<byte> payload) => Socket.Send(Sealed(type, payload));

    /// <summary>A whole frame of this connection.</summary>
    public byte[] Sealed(FrameType type, ReadOnlySpan<byte> payload)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, type, payload, Seed, checkPayload: true);
        return frame.WrittenSpan.ToArray();
    }

    public byte[] Empty(FrameType type) => Sealed(type, []);

    /// <summary>The first frame of this type that comes, and its payload; others are passed over.</summary>
    public byte[] Await(FrameType type)
    {
        while (true)
            if (Receive() is var (found, payload) && found == type) return payload;
    }

    /// <summary>The next frame.</summary>
    /// <param name="bytesMax">Of one receive.</param>
    /// <exception cref="SocketException">The other side has closed; or nothing came in time, and what was held stays.</exception>
    public (FrameType Type, byte[] Payload) Receive(int bytesMax = int.MaxValue)
    {
        while (true)
        {
            if (FrameReader.TryRead(_received.AsSpan(0, _held), Seed, SizeLimits.PayloadBytesMax(SizeLimits.MessageBytesMaxDefault), true,
                out FrameHeader header, out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                byte[] found = payload.ToArray();
                _received.AsSpan(size, _held - size).CopyTo(_received);
                _held -= size;
                return (header.Type, found);
            }
            int wanted = _held >= FrameHeader.Bytes ? FrameHeader.Bytes + (int)header.Length : 0;
            if (wanted > _received.Length) Array.Resize(ref _received, wanted);
            int count = Socket.Receive(_received.AsSpan(_held, Math.Min(bytesMax, _received.Length - _held)));
            if (count == 0) throw new SocketException((int)SocketError.ConnectionReset);
            _held += count;
        }
    }

    public void Dispose() => Socket.Dispose();
}
