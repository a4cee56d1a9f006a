using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using Ambrosia.Pumps;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// An app in a view waits for a debugger, and lets it break right before the message that was asked for, and before each one behind it; in
/// another session of the same process, too. The coordinator is a socket by hand, and the debugger counts.
/// </summary>
public sealed class DebuggerTests : IDisposable
{
    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(60);
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-debugger-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task App_OfAViewWithADebugger_BreaksBeforeExactlyThatMessageInEachSession()
    {
        string path = Path.Combine(_folder.FullName, "app.sock"), token = Path.Combine(_folder.FullName, "token");
        File.WriteAllBytes(token, new byte[32]);
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        var environment = new Dictionary<string, string>
        {
            ["AMBROSIA_APP"] = $"unix:{path}", ["AMBROSIA_TOKEN"] = token, ["AMBROSIA_WAIT_FOR_DEBUGGER"] = "1",
        };
        var lines = new List<string>();
        var debugger = new CountedDebugger();
        var host = new AppHost(ImmortalDefinition.Of<Load>(), static _ => [], environment.GetValueOrDefault, lines.Add, TimeProvider.System)
        {
            Debugger = debugger,
        };
        debugger.Sum = () => ((Load)host.Session!.Immortal!).Sum;
        Task<int> app = Task.Factory.StartNew(host.Run, TaskCreationOptions.LongRunning);

        byte[] start = FakeCoordinator.FirstStart("load");
        byte[] run = FakeCoordinator.Run(MessageKind.Fork, 0, [.. Enumerable.Range(0, 6).Select(static _ => (1u, 0ul, Cbor.Of(1, 0)))]);
        var record = new Lsn(64 + (ulong)start.Length);
        for (int session = 0; session < 2; session++)
        {
            debugger.Leaves = 3; // its user goes on twice, and is gone at the third break
            using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
            channel.Send(Begin(new Look(new MessagePlace(record, 2), LookFlags.Break), start, run));
            List<(uint Index, bool GoesOn)> seen = await Task.Run(() => SeenUntil(channel, 5)).WaitAsync(s_deadline);
            Assert.Equal([(2u, false), (2u, true), (3u, false), (3u, true), (4u, false), (4u, true), (5u, false)], seen);
            Assert.Equal([2, 3, 4], debugger.Breaks); // so much was executed at each
            debugger.Breaks.Clear();
            channel.Send(Frame(new Goodbye(session == 0 ? GoodbyeCode.Again : GoodbyeCode.CleanStop, "enough")));
        }
        Assert.Equal(0, await app.WaitAsync(s_deadline));
        Assert.Single(lines, $"Waiting for a debugger: process {Environment.ProcessId}.");
    }

    private static byte[] Begin(Look look, params byte[][] records)
    {
        byte[] payload = [.. new byte[DeliverHeader.Bytes], .. records.SelectMany(static record => record)];
        new DeliverHeader(new Lsn(64), 0, Lsn.Zero).Write(payload);
        var frames = new ArrayBufferWriter<byte>();
        var welcome = new AppWelcome(
            1, new InstanceId("load"), "view", FakeCoordinator.Uuid, new Epoch(1), 1, 1_000_000, new Lsn(64), false) { IsView = true };
        FrameWriter.Write(frames, welcome, 0, false);
        FrameWriter.Write(frames, look, 0, false);
        FrameWriter.Write(frames, FrameType.Deliver, payload, 0, false);
        return frames.WrittenSpan.ToArray();
    }

    private static byte[] Go()
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, FrameType.Go, [], 0, false);
        return frame.WrittenSpan.ToArray();
    }

    private static byte[] Frame<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, payload, 0, false);
        return frame.WrittenSpan.ToArray();
    }

    /// <summary>
    /// Where the app says that it stands, up to a message, and whether its debugger's user goes on there. It is sent to the next one then.
    /// </summary>
    private static List<(uint Index, bool GoesOn)> SeenUntil(Socket channel, uint last)
    {
        channel.ReceiveTimeout = (int)s_deadline.TotalMilliseconds;
        var seen = new List<(uint Index, bool GoesOn)>();
        byte[] buffer = new byte[1 << 20];
        for (int filled = 0; seen.Count == 0 || seen[^1].Index != last;)
        {
            int received = channel.Receive(buffer.AsSpan(filled));
            Assert.NotEqual(0, received);
            filled += received;
            int from = 0;
            while (FrameReader.TryRead(buffer.AsSpan(from, filled - from), 0, 2_000_000, false, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                from += size;
                if (header.Type != FrameType.Seen) continue;
                Seen at = Seen.Read(payload);
                seen.Add((at.Place.Index, at.GoesOn));
                if (!at.GoesOn) continue;
                channel.Send(Frame(new Look(default, LookFlags.Break | LookFlags.Next))); // it has broken here, and does not again
                channel.Send(Go());
            }
            Buffer.BlockCopy(buffer, from, buffer, 0, filled - from);
            filled -= from;
        }
        return seen;
    }

    /// <summary>It comes a while after the app has begun to wait, and goes when its user has seen enough.</summary>
    private sealed class CountedDebugger : IDebugger
    {
        private int _asked;

        /// <summary>So many breaks are left until it goes.</summary>
        public int Leaves { get; set; }

        public Func<long> Sum { get; set; } = static () => 0;

        /// <summary>What the immortal had summed up at each break.</summary>
        public List<long> Breaks { get; } = [];

        public bool IsAttached => ++_asked > 3 && (Leaves > 0 || Breaks.Count == 0);

        public void Break()
        {
            Breaks.Add(Sum());
            Leaves--;
        }
    }
}
