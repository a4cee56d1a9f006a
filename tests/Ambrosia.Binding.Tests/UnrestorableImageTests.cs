using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Pumps;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// An app that cannot restore its image says so, and begins again in the same process as long as its coordinator has older ones to give.
/// The coordinator is a socket by hand.
/// </summary>
public sealed class UnrestorableImageTests : IDisposable
{
    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(60);
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-unrestorable-");

    public void Dispose() => _folder.Delete(recursive: true);

    /// <summary>A coordinator that knows nothing of it gives the same image again: the process ends, and is not busy for ever.</summary>
    [Theory]
    [InlineData(128, 128)]
    [InlineData(256, 128, 128)]
    [InlineData(256, 192, 128, 256)]
    public async Task App_ThatRestoresNoImage_EndsWithOneWhereNoneIsOlder(params int[] checkpoints)
    {
        string path = Path.Combine(_folder.FullName, "app.sock"), token = Path.Combine(_folder.FullName, "token");
        File.WriteAllBytes(token, new byte[32]);
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        var environment = new Dictionary<string, string> { ["AMBROSIA_APP"] = $"unix:{path}", ["AMBROSIA_TOKEN"] = token };
        var lines = new List<string>();
        var host = new AppHost(ImmortalDefinition.Of<Load>(), static _ => [], environment.GetValueOrDefault, lines.Add, TimeProvider.System);
        Task<int> app = Task.Factory.StartNew(host.Run, TaskCreationOptions.LongRunning);
        foreach (int at in checkpoints)
        {
            using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
            channel.Send(Begin(new Lsn((ulong)at)));
            Goodbye end = await Task.Run(() => GoodbyeOf(channel)).WaitAsync(s_deadline);
            Assert.Equal(GoodbyeCode.Refused, end.Code);
            Assert.StartsWith("The image does not fit this app: ", end.WhyUnrestorable, StringComparison.Ordinal);
        }
        Assert.Equal(1, await app.WaitAsync(s_deadline));
        Assert.Contains(lines, static line => line.StartsWith("The checkpoint cannot be restored: ", StringComparison.Ordinal));
    }

    private static byte[] Begin(Lsn at)
    {
        byte[] image = [0x85, 0x6f, .. "ambrosia-csharp"u8, 0x08, 0x00, 0x00, 0x00];
        var frames = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frames, new AppWelcome(
            1, new InstanceId("load"), "r0", FakeCoordinator.Uuid, new Epoch(1), 1, 1_000_000, at, true), 0, false);
        FrameWriter.Write(frames, new ImageBegin(at, 8), 0, false);
        FrameWriter.Write(frames, FrameType.ImageChunk, image, 0, false);
        FrameWriter.Write(frames, new ImageEnd((ulong)image.Length, ChannelHash.Append(0, image)), 0, false);
        return frames.WrittenSpan.ToArray();
    }

    private static Goodbye GoodbyeOf(Socket channel)
    {
        var bytes = new byte[1 << 20];
        int have = 0, at = 0;
        while (true)
        {
            while (FrameReader.TryRead(bytes.AsSpan(at, have - at), 0, (uint)bytes.Length, checkPayload: false,
                out FrameHeader header, out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                if (header.Type == FrameType.Goodbye) return Goodbye.Read(payload);
                at += size;
            }
            have += channel.Receive(bytes.AsSpan(have)) is > 0 and var more ? more
                : throw new InvalidOperationException("the app has ended without a goodbye");
        }
    }
}
