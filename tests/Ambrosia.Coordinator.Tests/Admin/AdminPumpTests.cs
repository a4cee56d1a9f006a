using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Text;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Quarantine;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The admin socket with real sockets in a temporary directory: one request a connection, few of them, found by the file beside the log.
/// </summary>
public sealed class AdminPumpTests : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);
    private readonly PosixFileSystem _files = new();
    private readonly AdminCommands _commands = new();
    private readonly string _directory = Directory.CreateTempSubdirectory("ambrosia-admin-").FullName;
    private readonly List<AdminPump> _pumps = [];
    private readonly ConcurrentQueue<string> _ended = new();

    public AdminPumpTests()
    {
        _commands.Set("echo", static request => new AdminAnswer(new JsonObject { ["said"] = request["what"]?.GetValue<string>() }));
        _commands.Set("count", static _ => new Counting());
        _commands.Set("never", static _ => new Silent());
        _commands.Set("fails", static _ => throw new InvalidOperationException("a fault of ours"));
        _commands.Set("fails later", static _ => new Faulty());
    }

    public void Dispose()
    {
        foreach (AdminPump pump in _pumps) pump.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Fact]
    public void Client_AsksOnce_GetsTheAnswer()
    {
        Serve("r0");
        Assert.Equal("x", (string?)Assert.Single(Ask("r0", new JsonObject { ["command"] = "echo", ["what"] = "x" }))["said"]);
        Assert.Equal(["r0"], AdminClient.Replicas(_files, _directory));
    }

    [Fact]
    public void Client_SeveralAnswers_GetsThemInOrder()
    {
        Serve("r0");
        Assert.Equal([1, 2, 3], Ask("r0", new JsonObject { ["command"] = "count" }).Select(static a => (int)a["n"]!));
    }

    [Fact]
    public void Client_NobodyThere_SaysWhereItLooked()
    {
        Assert.Contains("no coordinator of replica 'r0' runs here",
            Assert.Throws<AdminUnreachableException>(() => Ask("r0", new JsonObject { ["command"] = "echo" })).Message);
        Serve("r0").Dispose();
        Assert.Empty(Directory.GetFiles(_directory));
    }

    [Fact]
    public void Client_CoordinatorWasKilled_SaysSo()
    {
        AdminPump pump = Serve("r0");
        byte[] place = File.ReadAllBytes(Path.Combine(_directory, "admin.r0"));
        pump.Dispose();
        File.WriteAllBytes(Path.Combine(_directory, "admin.r0"), place);
        Assert.Contains("does not answer",
            Assert.Throws<AdminUnreachableException>(() => Ask("r0", new JsonObject { ["command"] = "echo" })).Message);
    }

    [Fact]
    public void Place_LogDirectoryTooDeepForASocket_IsElsewhereAndPrivate()
    {
        string deep = Path.Combine(_directory, new string('d', 120));
        _files.CreateDirectory(deep);
        Serve("r0", deep);
        Assert.Equal("y",
            (string?)Assert.Single(
                AdminClient.Ask(_files, deep, "r0", new JsonObject { ["command"] = "echo", ["what"] = "y" }, s_patience))["said"]);
        (string socket, int process) = AdminEndpoint.ReadPlace(_files, Path.Combine(deep, "admin.r0"))!.Value;
        Assert.Equal(Environment.ProcessId, process);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
            File.GetUnixFileMode(Path.GetDirectoryName(socket)!));
    }

    [Fact]
    public void Files_Made_AreTheOwnersAlone()
    {
        Serve("r0");
        const UnixFileMode owner = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        Assert.All(["admin.r0", "admin.r0.sock"], name => Assert.Equal(owner, File.GetUnixFileMode(Path.Combine(_directory, name))));
    }

    [Fact]
    public void Endpoint_OfALivingProcess_IsLeftByAWaitingOneAndTakenByAPrimary()
    {
        Serve("r0");
        Assert.Null(AdminEndpoint.TryOpen(_files, _directory, "r0", evenIfTaken: false));
        using AdminEndpoint? taken = AdminEndpoint.TryOpen(_files, _directory, "r0", evenIfTaken: true);
        Assert.NotNull(taken);
    }

    [Fact]
    public void Endpoint_LeftByAKilledProcess_IsTakenByAWaitingOne()
    {
        Serve("r0").Dispose();
        File.WriteAllText(Path.Combine(_directory, "admin.r0.sock"), "");
        File.WriteAllText(Path.Combine(_directory, "admin.r0"), "{\"socket\":");
        Serve("r0");
        Assert.Equal("z", (string?)Assert.Single(Ask("r0", new JsonObject { ["command"] = "echo", ["what"] = "z" }))["said"]);
    }

    [Fact]
    public void Request_OfAnyLength_IsTakenUpToTheLimit()
    {
        Serve("r0");
        string front = "{\"command\":\"echo\",\"what\":\"", back = "\"}";
        int room = AdminCommands.RequestBytesMax - front.Length - back.Length;
        Assert.StartsWith("{\"said\":\"xx", Talk(front + new string('x', room) + back + "\n"));
        Assert.Equal("{\"error\":\"the request is longer than 65536 bytes\"}\n", Talk(front + new string('x', room + 1) + back + "\n"));
    }

    /// <summary>Half of a surrogate pair is JSON and no text: whatever names it gets a refusal, and the pump goes on.</summary>
    [Theory]
    [InlineData("""{"command":"\ud800"}""")]
    [InlineData("""{"command":"echo","what":"\ud800"}""")]
    [InlineData("""{"command":"echo","\udfff":1}""")]
    [InlineData("""{"command":"echo","what":{"a":["\ud800x"]}}""")]
    public void Request_WithATextThatIsNone_IsRefused(string request)
    {
        Serve("r0");
        Assert.StartsWith("{\"error\":\"the request is not one JSON object in a line: ", Talk(request + "\n"));
        Assert.Equal("{\"said\":\"x\"}\n", Talk("{\"command\":\"echo\",\"what\":\"x\"}\n"));
    }

    [Theory]
    [InlineData("fails")]
    [InlineData("fails later")]
    public void Command_ThatFailsAsNobodyExpected_IsRefusedAndEndsNothing(string command)
    {
        Serve("r0");
        Assert.Contains("the command failed: a fault of ours", Talk($"{{\"command\":\"{command}\"}}\n"));
        Assert.Equal("{\"said\":\"x\"}\n", Talk("{\"command\":\"echo\",\"what\":\"x\"}\n"));
        Assert.Empty(_ended);
    }

    /// <summary>Bytes of any kind in place of a request, and real requests with some of their bytes changed.</summary>
    [Fact]
    public void Requests_MutatedAndOfNoise_AreAnsweredAndEndNothing()
    {
        int seed = Random.Shared.Next();
        var random = new Random(seed);
        foreach (string name in new[] { "quarantine", "promote", "upgrade", "forget-peer" }) _commands.Set(name, CommandNamed(name));
        byte[][] whole = [.. new[]
        {
            """{"command":"echo","what":"x\u00e9\ud83d\ude00"}""", """{"command":"quarantine","action":"retry","message":"4160:2"}""",
            """{"command":"promote","withinMs":100}""", """{"command":"upgrade","app":["a","b"],"withinMs":5,"limitMs":1e3}""",
            """{"command":"forget-peer","peer":"ledger"}""",
        }.Select(Encoding.UTF8.GetBytes)];
        for (int i = 0; i < TestScale.Rounds(200_000); i++)
        {
            byte[] request = [.. whole[random.Next(whole.Length)]];
            for (int n = random.Next(4); n >= 0; n--)
            {
                int at = random.Next(request.Length);
                if (random.Next(3) > 0) request[at] = (byte)random.Next(256);
                else request = [.. request[..at], .. @"\ud800\u0000{[""\x"u8[..random.Next(1, 16)], .. request[at..]];
            }
            try
            {
                IAdminReply reply = _commands.Begin(request);
                for (bool isLast = false; !isLast && reply.Next(out isLast) is not null;) { }
            }
            catch (Exception e)
            {
                Assert.Fail($"seed {seed}, request {Convert.ToHexString(request)}: {e}");
            }
        }
    }

    /// <summary>What a command does with a request before anything else: it reads its fields.</summary>
    private static AdminCommand CommandNamed(string name) => request => name switch
    {
        "quarantine" => QuarantineCommand.Begin(
            request, new QuarantineJournal(null!), new TaskBodies(null!), isPrimary: false, static () => false, static () => { }),
        "promote" => PromoteCommand.Begin(
            request, hasLog: false, new PromotedReplica(static () => 0, static () => null, static () => { }, static () => null),
            TimeProvider.System),
        "forget-peer" => ForgetPeerCommand.Begin(request, false, null!),
        _ => UpgradeCommand.Begin(request, new UpgradedReplica(null!, static () => null, static () => "", TimeProvider.System)),
    };

    [Fact]
    public void Connection_WithoutAThreadForIt_IsClosedAndALaterOneIsServed()
    {
        Serve("r0");
        using (RefusedThreads.Named("admin"))
        {
            using Socket refused = Connect();
            Assert.Equal(0, refused.Receive(new byte[1]));
        }
        string answer = "";
        for (long until = Environment.TickCount64 + 30_000; answer.Length == 0 && Environment.TickCount64 < until;)
            answer = Talk("{\"command\":\"echo\",\"what\":\"x\"}\n");
        Assert.Equal("{\"said\":\"x\"}\n", answer);
    }

    [Fact]
    public void Request_WithoutItsEnd_GetsNoAnswer() => Assert.Equal("", TalkTo(Serve("r0"), "{\"command\":\"echo\"}"));

    [Fact]
    public void Connection_NinthAtOnce_IsClosed()
    {
        Serve("r0");
        List<Socket> open = [.. Enumerable.Range(0, 8).Select(_ => Connect())];
        foreach (Socket socket in open) socket.Send("{\"command\":\"never\"}\n"u8);
        using (Socket ninth = Connect()) Assert.Equal(0, ninth.Receive(new byte[1]));
        foreach (Socket socket in open) socket.Dispose();
        // Those who went away make room again.
        string answer = "";
        for (long until = Environment.TickCount64 + 30_000; answer.Length == 0 && Environment.TickCount64 < until;)
            answer = Talk("{\"command\":\"echo\",\"what\":\"x\"}\n");
        Assert.Equal("{\"said\":\"x\"}\n", answer);
    }

    private AdminPump Serve(string replica, string? at = null)
    {
        AdminEndpoint endpoint = AdminEndpoint.TryOpen(_files, at ?? _directory, replica, evenIfTaken: false)
            ?? throw new InvalidOperationException("taken");
        var pump = new AdminPump(() => endpoint, _commands, (code, why) => _ended.Enqueue($"{code}: {why}"), NullLogger.Instance);
        _pumps.Add(pump);
        pump.Start();
        return pump;
    }

    private List<JsonObject> Ask(string replica, JsonObject request) => [.. AdminClient.Ask(_files, _directory, replica, request, s_patience)];

    private Socket Connect()
    {
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
        {
            ReceiveTimeout = (int)s_patience.TotalMilliseconds
        };
        socket.Connect(new UnixDomainSocketEndPoint(Path.Combine(_directory, "admin.r0.sock")));
        return socket;
    }

    private string TalkTo(AdminPump pump, string request)
    {
        Assert.Contains(pump, _pumps);
        return Talk(request);
    }

    /// <summary>Sends, says that nothing more comes, and reads to the end.</summary>
    private string Talk(string request)
    {
        using Socket socket = Connect();
        byte[] buffer = new byte[1 << 17];
        int fill = 0;
        try
        {
            socket.Send(Encoding.UTF8.GetBytes(request));
            if (!request.EndsWith('\n')) socket.Shutdown(SocketShutdown.Send);
            for (int count; (count = socket.Receive(buffer, fill, buffer.Length - fill, SocketFlags.None)) > 0;) fill += count;
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.ConnectionReset or SocketError.Shutdown)
        {
            // closed while bytes of ours were unread: what came before counts
        }
        return Encoding.UTF8.GetString(buffer, 0, fill);
    }

    private sealed class Counting : IAdminReply
    {
        private int _n;
        private bool _pausing;

        public JsonObject? Next(out bool isLast)
        {
            isLast = false;
            if (_pausing = !_pausing) return null;
            isLast = ++_n == 3;
            return new JsonObject { ["n"] = _n };
        }
    }

    private sealed class Faulty : IAdminReply
    {
        private bool _hasBegun;

        public JsonObject? Next(out bool isLast)
        {
            isLast = false;
            if (_hasBegun) throw new InvalidOperationException("a fault of ours");
            _hasBegun = true;
            return null;
        }
    }

    private sealed class Silent : IAdminReply
    {
        public JsonObject? Next(out bool isLast)
        {
            isLast = false;
            return null;
        }
    }
}
