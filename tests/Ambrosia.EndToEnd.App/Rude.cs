using System.Buffers;
using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// An app that says hello as it must, then breaks the protocol, and stays: it keeps its connection, and does not end when it is asked to.
/// RUDE is a file; the app that finds it removes it and is this one, so that the next is a ledger. RUDE_READS=1: it reads on.
/// </summary>
internal static class Rude
{
    private const int WrittenAt = 0, RingBytesAt = 4096; // protocol P5.19

    public static bool IsNext => Settings.Rude is { } file && File.Exists(file);

    public static int Run()
    {
        File.Delete(Settings.Rude!);
        using var deaf = PosixSignalRegistration.Create(PosixSignal.SIGTERM, static signal => signal.Cancel = true);
        string channel = Environment.GetEnvironmentVariable("AMBROSIA_APP")!;
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(channel.Split(':', 2)[1]));
        byte[] token = File.ReadAllBytes(Environment.GetEnvironmentVariable("AMBROSIA_TOKEN")!);
        var hello = new ArrayBufferWriter<byte>();
        var says = new AppHello(1, 1, token, 1, 1, "test", "test", "", "test", 1, (uint)Environment.ProcessId);
        FrameWriter.Write(hello, says, 0, checkPayload: false);
        socket.Send(hello.WrittenSpan);
        byte[] received = new byte[64 * 1024];
        int held = socket.Receive(received);
        if (channel.StartsWith("ring:", StringComparison.Ordinal))
        {
            Overfill(RingsOf(socket, received, held));
            socket.Send([0]); // the coordinator may sleep
        }
        else socket.Send(Enumerable.Repeat((byte)0xFF, 64).ToArray());
        if (Settings.Number("RUDE_READS", 0) == 0) Thread.Sleep(Timeout.Infinite);
        while (socket.Receive(received) > 0) { }
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    /// <summary>
    /// A planted bug, for tests that look for it: what is started like a coordinator has a thread whose exceptions are left to the runtime.
    /// </summary>
    public static int RunCareless(string directory)
    {
        Directory.CreateDirectory(directory);
        var bare = new Thread(() =>
        {
            while (true) File.WriteAllText(Path.Combine(directory, "careless"), "x");
        });
        bare.Start();
        bare.Join();
        return 0;
    }

    private static RingsFrame RingsOf(Socket socket, byte[] received, int held)
    {
        while (true)
        {
            if (FrameReader.TryRead(received.AsSpan(0, held), 0, (uint)received.Length, false, out _, out ReadOnlySpan<byte> payload, out _)
                == DecodeStatus.Ok) return RingsFrame.Read(payload);
            held += socket.Receive(received.AsSpan(held));
        }
    }

    /// <summary>Says of both rings that more was written than fits.</summary>
    private static void Overfill(RingsFrame rings)
    {
        byte[] written = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(written, ulong.MaxValue / 2);
        using FileStream memory = File.Open(rings.Path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        foreach (long ring in new[] { 0, RingBytesAt + (long)rings.Capacity })
        {
            memory.Position = ring + WrittenAt;
            memory.Write(written);
            memory.Flush();
        }
    }
}
