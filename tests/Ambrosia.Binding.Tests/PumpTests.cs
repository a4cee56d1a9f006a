using System.Buffers;
using System.Net.Sockets;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Pumps;

namespace Ambrosia.Binding.Tests;

/// <summary>The app's process side over real sockets, with a coordinator by hand at the other end.</summary>
public sealed class PumpTests : IDisposable
{
    private static readonly TimeSpan s_deadline = TimeSpan.FromSeconds(60);
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-pump-");
    private readonly List<string> _lines = [];

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void App_WithoutAddress_SaysWhatIsMissing()
    {
        Assert.Equal(2, Run(new Dictionary<string, string>()));
        Assert.Contains("AMBROSIA_APP is not set", Assert.Single(_lines), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tcp:0")]
    [InlineData("tcp:x")]
    [InlineData("unix:")]
    [InlineData("ring:")]
    [InlineData("nonsense")]
    public void App_WithBadAddress_SaysSo(string address)
    {
        Assert.Equal(2, Run(new Dictionary<string, string> { ["AMBROSIA_APP"] = address, ["AMBROSIA_TOKEN"] = Token() }));
        Assert.Contains("none of unix:PATH, ring:PATH and tcp:PORT", Assert.Single(_lines), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("unix:")]
    [InlineData("ring:")]
    public void Run_SocketPathTooLong_SaysWhatHelps(string kind)
    {
        Assert.Equal(2,
            Run(new Dictionary<string, string> { ["AMBROSIA_APP"] = kind + new string('x', 200), ["AMBROSIA_TOKEN"] = Token() }));
        Assert.Contains("too long for a socket: let the coordinator take a shorter one with --app-socket", Assert.Single(_lines),
            StringComparison.Ordinal);
    }

    [Fact]
    public void App_WithBadToken_SaysSo()
    {
        string token = Path.Combine(_folder.FullName, "short");
        File.WriteAllBytes(token, new byte[31]);
        Assert.Equal(2, Run(new Dictionary<string, string> { ["AMBROSIA_APP"] = "tcp:1", ["AMBROSIA_TOKEN"] = token }));
        Assert.Contains("31 bytes", Assert.Single(_lines), StringComparison.Ordinal);
    }

    /// <summary>Whoever supervises the two may start the app first, or when the token of the coordinator before is still there.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task App_ThatIsStartedBeforeItsCoordinator_AwaitsItAndItsToken(bool isOfTheOneBefore)
    {
        string path = Path.Combine(_folder.FullName, "app.sock"), token = Path.Combine(_folder.FullName, "token");
        if (isOfTheOneBefore) File.WriteAllBytes(token, new byte[AppHello.TokenBytes]);
        var environment = new Dictionary<string, string> { ["AMBROSIA_APP"] = $"unix:{path}", ["AMBROSIA_TOKEN"] = token };
        Task<int> app = Task.Factory.StartNew(() => Run(environment), TaskCreationOptions.LongRunning);
        Assert.True(SpinWait.SpinUntil(() => { lock (_lines) return _lines.Count > 0 || app.IsCompleted; }, s_deadline));
        lock (_lines) Assert.StartsWith("Waiting for the coordinator", Assert.Single(_lines), StringComparison.Ordinal);
        byte[] made = [.. Enumerable.Repeat((byte)7, AppHello.TokenBytes)];
        File.WriteAllBytes(token, made);
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        using (Socket accepted = await listener.AcceptAsync().WaitAsync(s_deadline))
        {
            byte[] begin = new byte[256];
            int count = await accepted.ReceiveAsync(begin).WaitAsync(s_deadline);
            Assert.True(begin.AsSpan(0, count).IndexOf(made) > 0);
        }
        Assert.Equal(74, await app.WaitAsync(s_deadline));
    }

    [Fact]
    public void App_ThatAwaitsSomethingElse_IsRefusedAtItsStart()
    {
        // This assembly holds Bank.Foreign, which does.
        Assert.Equal(2, new AppHost(
            ImmortalDefinition.Of<Bank>(), AwaitCheck.Faults,
            new Dictionary<string, string> { ["AMBROSIA_APP"] = "tcp:1", ["AMBROSIA_TOKEN"] = Token() }.GetValueOrDefault, Log,
            TimeProvider.System).Run());
        string line = Assert.Single(_lines);
        Assert.Contains("Bank.Foreign awaits a System.Runtime.CompilerServices.YieldAwaitable", line, StringComparison.Ordinal);
        Assert.Matches(@"^Bank\.cs:\d+: ", line);
    }

    [Fact]
    public async Task App_OverUnixSocket_RelaysAndEndsWithTheChannel()
    {
        string path = Path.Combine(_folder.FullName, "app.sock");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        Task<int> app = RunInBackground<Load>($"unix:{path}");

        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        channel.Send(
            Records("load", FakeCoordinator.FirstStart("load"), FakeCoordinator.Peer(1, "bank2"),
                FakeCoordinator.Run(MessageKind.Fork, 1, (3, 0, Cbor.Of(2_000_000)))));
        // Ten times what a handler may leave unsent: it waits for this side to read, and goes on.
        uint messages = 0;
        bool processed = false;
        Read(channel, (type, payload) =>
        {
            if (type == FrameType.Run) messages += RunView.Read(payload).Header.Count;
            processed |= type == FrameType.Processed;
            return !processed;
        });
        Assert.Equal(2_000_000u, messages);

        channel.Shutdown(SocketShutdown.Both);
        channel.Close();
        Assert.Equal(74, await app.WaitAsync(s_deadline));
    }

    /// <summary>
    /// The frame ends exactly where the receive buffer does, which was made for it: nothing is behind it, so what it led to is sent before
    /// the app waits for more (P5.6).
    /// </summary>
    [Fact]
    public async Task App_GivenAFrameLargerThanItsBuffer_AnswersBeforeItWaitsForMore()
    {
        string path = Path.Combine(_folder.FullName, "large.sock");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        Task<int> app = RunInBackground<Load>($"unix:{path}");

        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        byte[][] records =
        [
            FakeCoordinator.FirstStart("load"),
            FakeCoordinator.Run(MessageKind.Fork, 0, (3, 0, [.. Cbor.Of(2), .. new byte[3 << 20]])), // surplus arguments: skipped
            FakeCoordinator.Run(MessageKind.Fork, 0, (3, 0, Cbor.Of(2))),
        ];
        channel.Send(Records("load", records));
        ulong end = 64 + (ulong)records.Sum(static record => record.Length);
        uint messages = 0;
        bool processed = false;
        await Task.Run(() => Read(channel, (type, payload) =>
        {
            if (type == FrameType.Run) messages += RunView.Read(payload).Header.Count;
            processed |= type == FrameType.Processed && ProcessedFrame.Read(payload).Position.Value == end;
            return !processed;
        })).WaitAsync(s_deadline);
        Assert.Equal(4u, messages);

        channel.Send(Frame(new Goodbye(GoodbyeCode.CleanStop, "enough")));
        Assert.Equal(0, await app.WaitAsync(s_deadline));
    }

    /// <summary>The thread that sends says it, once while nothing changes, and handlers behind it are said when they hang.</summary>
    [Fact]
    public async Task App_WhoseHandlersDoNotComeBack_SaysWhichMessagesTheyExecute()
    {
        string path = Path.Combine(_folder.FullName, "hangs.sock");
        string first = Path.Combine(_folder.FullName, "first"), second = Path.Combine(_folder.FullName, "second");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        Task<int> app = RunInBackground<Load>($"unix:{path}");

        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        byte[] start = FakeCoordinator.FirstStart("load");
        channel.Send(Records("load", start, FakeCoordinator.Run(MessageKind.Fork, 0,
            (1, 0, Cbor.Of(1, 2)), (1, 0, Cbor.Of(1, 2)), (12, 0, Cbor.Of(first)), (1, 0, Cbor.Of(1, 2)), (12, 0, Cbor.Of(second)))));
        var said = new List<MessagePlace>();
        bool isProcessed = false;
        await Task.Run(() => Read(channel, (type, payload) =>
        {
            isProcessed |= type == FrameType.Processed;
            if (type == FrameType.Executing)
            {
                said.Add(ExecutingFrame.Read(payload).Place);
                File.Create(said.Count == 1 ? first : second).Dispose();
            }
            return !isProcessed;
        })).WaitAsync(s_deadline);
        var record = new Lsn(64 + (ulong)start.Length);
        Assert.Equal([new MessagePlace(record, 2), new MessagePlace(record, 4)], said);

        channel.Send(Frame(new Goodbye(GoodbyeCode.CleanStop, "enough")));
        Assert.Equal(0, await app.WaitAsync(s_deadline));
    }

    [Fact]
    public async Task App_OverTcp_ImpulsesWaitForRoomAndAllArrive()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 0));
        listener.Listen();
        Task<int> app = RunInBackground<Flood>($"tcp:{((System.Net.IPEndPoint)listener.LocalEndPoint!).Port}");

        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        channel.Send(Records("flood", FakeCoordinator.FirstStart("flood")));
        channel.Send(Frame(new BecomePrimary(new Lsn(4096))));
        ulong next = 1;
        Read(channel, (type, payload) =>
        {
            if (type != FrameType.Run) return true;
            RunHeader run = RunView.ReadWhole(payload, 1_000_000).Header;
            Assert.Equal(next, run.First);
            next += run.Count;
            return next <= Flood.Impulses;
        });

        channel.Send(Frame(new Goodbye(GoodbyeCode.CleanStop, "enough")));
        Assert.Equal(0, await app.WaitAsync(s_deadline));
    }

    [Fact]
    public async Task App_Refused_EndsWithMisuse()
    {
        string path = Path.Combine(_folder.FullName, "refuse.sock");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        Task<int> app = RunInBackground<Load>($"unix:{path}");
        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        channel.Send(Frame(new Goodbye(GoodbyeCode.Refused, "wrong token")));

        Assert.Equal(2, await app.WaitAsync(s_deadline));
        lock (_lines) Assert.Contains("wrong token", _lines[^1], StringComparison.Ordinal);
    }

    /// <summary>The exit code says how the session ended (P5.13): that a handler stopped the app, or that the log contradicts it.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(70)]
    public async Task App_ThatEndsItsSession_EndsWithTheCodeOfItsGoodbye(int expected)
    {
        string path = Path.Combine(_folder.FullName, "ends.sock");
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        Task<int> app = RunInBackground<Load>($"unix:{path}");
        using Socket channel = await listener.AcceptAsync().WaitAsync(s_deadline);
        byte[] stop = RecordKinds.EncodeWhole(PolicyRecord.Default with { Forks = ForkPolicy.Stop });
        byte[] last = expected == 1 ? FakeCoordinator.Run(MessageKind.Fork, 0, (99, 0, [])) : FakeCoordinator.Fired(1, 0);
        channel.Send(Records("load", FakeCoordinator.FirstStart("load"), stop, last));

        Assert.Equal(expected, await app.WaitAsync(s_deadline));
    }

    private int Run(Dictionary<string, string> environment) =>
        new AppHost(ImmortalDefinition.Of<Load>(), static _ => [], environment.GetValueOrDefault, Log, TimeProvider.System).Run();

    private Task<int> RunInBackground<T>(string address)
        where T : Immortal, IImmortal<T>
    {
        var environment = new Dictionary<string, string> { ["AMBROSIA_APP"] = address, ["AMBROSIA_TOKEN"] = Token() };
        return Task.Factory.StartNew(
            () => new AppHost(ImmortalDefinition.Of<T>(), static _ => [], environment.GetValueOrDefault, Log, TimeProvider.System).Run(),
            TaskCreationOptions.LongRunning);
    }

    private void Log(string line)
    {
        lock (_lines) _lines.Add(line);
    }

    private string Token()
    {
        string path = Path.Combine(_folder.FullName, "token");
        File.WriteAllBytes(path, new byte[32]);
        return path;
    }

    private static byte[] Records(string name, params byte[][] records)
    {
        byte[] payload = [.. new byte[DeliverHeader.Bytes], .. records.SelectMany(record => record)];
        new DeliverHeader(new Lsn(64), 0, Lsn.Zero).Write(payload);
        var frames = new ArrayBufferWriter<byte>();
        frames.Write(
            Frame(new AppWelcome(1, new InstanceId(name), "r0", FakeCoordinator.Uuid, new Epoch(1), 1, 1_000_000, new Lsn(64), false)));
        FrameWriter.Write(frames, FrameType.Deliver, payload, 0, false);
        return frames.WrittenSpan.ToArray();
    }

    private static byte[] Frame<T>(T payload)
        where T : IFramePayload<T>
    {
        var frame = new ArrayBufferWriter<byte>();
        FrameWriter.Write(frame, payload, 0, false);
        return frame.WrittenSpan.ToArray();
    }

    /// <summary>Reads frames until told to stop.</summary>
    private static void Read(Socket channel, Func<FrameType, byte[], bool> take)
    {
        channel.ReceiveTimeout = (int)s_deadline.TotalMilliseconds;
        var buffer = new byte[4 * 1024 * 1024];
        int filled = 0;
        while (true)
        {
            int received = channel.Receive(buffer.AsSpan(filled));
            Assert.NotEqual(0, received);
            filled += received;
            int at = 0;
            while (FrameReader.TryRead(buffer.AsSpan(at, filled - at), 0, 2_000_000, false, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
            {
                at += size;
                if (!take(header.Type, payload.ToArray())) return;
            }
            Buffer.BlockCopy(buffer, at, buffer, 0, filled - at);
            filled -= at;
        }
    }
}
