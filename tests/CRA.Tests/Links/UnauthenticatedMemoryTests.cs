using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using Ambrosia.TestKit;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// Measures what the accept thread allocates for one connection that is not authenticated, from its accept to its log line.
/// </summary>
public sealed class UnauthenticatedMemoryTests : IDisposable
{
    private const long BytesMax = 64 * 1024;

    private readonly LinkListener _listener;
    private readonly SemaphoreSlim _logged = new(0);
    private long _accepted, _cost;

    public UnauthenticatedMemoryTests()
    {
        // The nonce of an accepted connection and its log line are both made on the accept thread: that is where it is counted.
        var settings = new LinkSettings(LoopbackLinks.SecretOf(1), TimeProvider.System, fill =>
        {
            _accepted = GC.GetAllocatedBytesForCurrentThread();
            RandomNumberGenerator.Fill(fill);
        }) { AuthenticationMax = TimeSpan.FromMilliseconds(300) };
        _listener = new LinkListener("127.0.0.1:0", null, settings, static connection => connection.Dispose(), new EventRecorder(_ =>
        {
            _cost = GC.GetAllocatedBytesForCurrentThread() - _accepted;
            _logged.Release();
        }));
        _listener.Start();
    }

    public void Dispose() => _listener.Dispose();

    public static TheoryData<string, int> Kinds
    {
        get
        {
            var data = new TheoryData<string, int>();
            foreach (string kind in new[] { "garbage", "huge length", "wrong magic", "wrong proof", "half a greeting" })
                foreach (int piece in new[] { int.MaxValue, 1 }) data.Add(kind, piece);
            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void UnauthenticatedConnection_AnyBytesInAnyPieces_CostsAtMost64KiB(string kind, int piece)
    {
        byte[] sent = kind switch
        {
            "garbage" => RandomNumberGenerator.GetBytes(1 << 20),
            "huge length" => [.. "AMBRLINK"u8, .. Enumerable.Repeat((byte)0xFF, 4096)],
            "wrong magic" => "GET / HTTP/1.1\r\n\r\n"u8.ToArray(),
            "wrong proof" => [.. "AMBRLINK"u8, .. RandomNumberGenerator.GetBytes(64)],
            _ => [.. "AMBRLINK"u8, .. RandomNumberGenerator.GetBytes(5)],
        };
        Serve(sent, piece); // what is made once a process is made
        Assert.InRange(Serve(sent, piece), 1, BytesMax);
    }

    private long Serve(byte[] sent, int piece)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(IPEndPoint.Parse(_listener.BoundAddress));
        try
        {
            for (int at = 0; at < sent.Length && at < 200 * (long)piece; at += piece == int.MaxValue ? sent.Length : piece)
                socket.Send(sent.AsSpan(at, Math.Min(piece, sent.Length - at)));
        }
        catch (SocketException)
        {
            // It was closed meanwhile.
        }
        Assert.True(_logged.Wait(Deadline.Generous), "no log line");
        return _cost;
    }
}
