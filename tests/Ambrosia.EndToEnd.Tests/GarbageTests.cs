using System.Buffers;
using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using CRA.Authentication;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Strangers and broken peers on both listening sockets of a ledger: each connection is closed with one line, costs no memory worth
/// speaking of, and the calls of others go on.
/// </summary>
public sealed class GarbageTests : IDisposable
{
    private const int Calls = 300, LinkRounds = 40, AppRounds = 3, GarbageBytes = 1 << 20;
    private const long GrowthBytesMax = 64L << 20, ResidentBytesMax = 400L << 20;

    private readonly Cluster _cluster = new();
    private readonly Chance _chance = new();

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void Link_StrangersBytes_CostOneLineEach() => OnALedger((ledger, linkAddress, _) =>
    {
        byte[] secret = File.ReadAllBytes(Path.Combine(_cluster.Root, "catalog", DirectoryCatalog.SecretName));
        long before = ledger.ResidentBytes();
        for (int round = 0; round < LinkRounds; round++) AssertClosedWithALine(ledger, () => Dial(linkAddress), _chance.Bytes(GarbageBytes));
        AssertClosedWithALine(ledger, () => Dial(linkAddress), "GET / HTTP/1.1\r\n\r\n"u8.ToArray());
        // a wrong proof
        AssertClosedWithALine(ledger, () => Dial(linkAddress), [.. "AMBRLINK"u8, .. _chance.Bytes(32), .. _chance.Bytes(32)]);
        AssertClosedWithALine(ledger, () => Dial(linkAddress), [.. "AMBRLINK"u8, .. _chance.Bytes(5)], hangUp: true);
        AssertClosedWithALine(ledger, () => Dial(linkAddress), [.. "AMBRLINK"u8, .. _chance.Bytes(5)]); // half a greeting, then silence
        foreach (Func<uint, byte[]> frames in new Func<uint, byte[]>[] { HugeLength, _ => _chance.Bytes(GarbageBytes), WrongInstance,
            RunFirst, HalfHello })
            AssertClosedWithALine(ledger, () => Authenticated(linkAddress, secret, frames));
        AssertBounded(ledger, before);
    });

    [Fact]
    public void AppChannel_StrangersBytes_CostOneLineEach() => OnALedger((ledger, _, appChannel) =>
    {
        long before = ledger.ResidentBytes();
        for (int round = 0; round < AppRounds; round++)
            AssertClosedWithALine(ledger, () => DialApp(appChannel), _chance.Bytes(GarbageBytes));
        AssertClosedWithALine(ledger, () => DialApp(appChannel), HugeLength(0));
        AssertClosedWithALine(ledger, () => DialApp(appChannel), RunFirst(0));
        AssertClosedWithALine(ledger, () => DialApp(appChannel), [1, 2, 3], hangUp: true);
        AssertClosedWithALine(ledger, () => DialApp(appChannel), [1, 2, 3]); // half a header, then silence
        AssertBounded(ledger, before);
    });

    private void OnALedger(Action<Replica, IPEndPoint, string> attack)
    {
        (Replica source, Replica ledger) = _cluster.Pair(Calls);
        source.Settings["UNTIL"] = _cluster.Until;
        _cluster.Run(_chance.Again(nameof(GarbageTests)), () =>
        {
            ledger.Start();
            source.Start();
            source.AwaitReady();
            ledger.AwaitReady();
            attack(ledger, StartTests.AddressOf(_cluster, "ledger"), Path.Combine(ledger.LogDirectory, "app.r0.sock"));
            File.Create(_cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            _cluster.AssertNoneGaveUp();
        });
    }

    private static void AssertBounded(Replica ledger, long before)
    {
        long after = ledger.ResidentBytes();
        Assert.True(after - before < GrowthBytesMax && after < ResidentBytesMax, $"{before >> 20} MiB before, {after >> 20} MiB after");
    }

    private static Socket Dial(IPEndPoint address)
    {
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(address);
        return socket;
    }

    private static Socket DialApp(string path)
    {
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(path));
        return socket;
    }

    /// <summary>A peer that knows the secret and then sends these frames.</summary>
    private Socket Authenticated(IPEndPoint address, byte[] secret, Func<uint, byte[]> frames)
    {
        Socket socket = Dial(address);
        LinkAuthentication side = LinkAuthentication.Dialler(secret, _chance.Bytes(LinkAuthentication.NonceBytes), address.ToString());
        byte[] received = new byte[256], reply = new byte[LinkAuthentication.ReplyBytesMax];
        int count = 0;
        while (true)
        {
            AuthenticationStatus status = side.Feed(received.AsSpan(0, count), out _, reply, out int replyBytes);
            socket.Send(reply.AsSpan(0, replyBytes));
            if (status == AuthenticationStatus.Done) break;
            count = socket.Receive(received.AsSpan(0, side.BytesWanted));
            Assert.NotEqual(0, count);
        }
        TrySend(socket, frames(side.Seed));
        return socket;
    }

    private static byte[] Header(uint length, FrameType type, uint seed)
    {
        byte[] header = new byte[FrameHeader.Bytes];
        BinaryPrimitives.WriteUInt32LittleEndian(header, length);
        header[4] = (byte)type;
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(12), Crc32C.Append(seed, header.AsSpan(0, 12)));
        return header;
    }

    private static byte[] HugeLength(uint seed) => Header(0xFFFF_FFF0, FrameType.Hello, seed);

    private static byte[] RunFirst(uint seed)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, FrameType.Run, new byte[64], seed, checkPayload: seed != 0);
        return frame.WrittenSpan.ToArray();
    }

    private static byte[] Hello(uint seed, string to)
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame,
            new Hello(1, 1, Guid.NewGuid(), new InstanceId("stranger"), "r0", new Epoch(1), 1, to, Guid.Empty, new Epoch(0), 0, 0, 0,
                new Epoch(0), 0, 1 << 20), seed, checkPayload: true);
        return frame.WrittenSpan.ToArray();
    }

    private static byte[] WrongInstance(uint seed) => Hello(seed, "somebody-else");

    private static byte[] HalfHello(uint seed) => Hello(seed, "ledger")[..40];

    /// <summary>Sends, waits until the other side has closed, and expects exactly one line about it.</summary>
    private static void AssertClosedWithALine(Replica ledger, Func<Socket> dial, byte[]? bytes = null, bool hangUp = false)
    {
        int from = ledger.Lines.Count;
        using Socket socket = dial();
        if (bytes is not null) TrySend(socket, bytes);
        if (hangUp) socket.Shutdown(SocketShutdown.Send);
        socket.ReceiveTimeout = (int)Cluster.Patience.TotalMilliseconds;
        AwaitEnd(socket);
        ledger.Lines.Await("line about the connection", IsAboutAConnection, from, Cluster.Patience);
        Assert.Single(ledger.Lines.From(from), IsAboutAConnection);
    }

    private static bool IsAboutAConnection(string line) =>
        line.StartsWith("Link ", StringComparison.OrdinalIgnoreCase) || line.StartsWith("app channel:", StringComparison.Ordinal);

    /// <summary>The other side may have closed before it has taken all of it.</summary>
    private static void TrySend(Socket socket, byte[] bytes)
    {
        try
        {
            socket.Send(bytes);
        }
        catch (SocketException)
        {
        }
    }

    private static void AwaitEnd(Socket socket)
    {
        byte[] received = new byte[4096];
        try
        {
            while (socket.Receive(received) > 0) { }
        }
        catch (SocketException e) when (e.SocketErrorCode != SocketError.TimedOut)
        {
        }
    }
}
