using System.Buffers;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Who may speak to a coordinator as its app: one process, of its user, with the token of this start. Everybody else is told why not.
/// </summary>
public sealed class AppChannelTests
{
    private const UnixFileMode File0600 = UnixFileMode.UserRead | UnixFileMode.UserWrite,
        Directory0700 = File0600 | UnixFileMode.UserExecute;

    [Fact]
    public void Files_OfACoordinator_AreForItsUserOnly() => OnALedger((cluster, ledger) =>
    {
        string catalog = Path.Combine(cluster.Root, "catalog");
        Assert.All(new[] { ledger.LogDirectory, catalog },
            static directory => Assert.Equal(Directory0700, File.GetUnixFileMode(directory)));
        string[] files = [.. Directory.EnumerateFiles(ledger.LogDirectory), .. Directory.EnumerateFiles(catalog)];
        Assert.Contains(files, static file => file.EndsWith("app.r0.sock", StringComparison.Ordinal));
        Assert.Contains(files, static file => file.EndsWith("secret", StringComparison.Ordinal));
        Assert.All(files, static file => Assert.Equal((file, File0600), (file, File.GetUnixFileMode(file))));
    }, umask: "000");

    [Fact]
    public void App_SecondWhileOneIsLive_IsRefusedWithTheReason() => OnALedger((_, ledger) =>
    {
        Goodbye goodbye = Refusal(SocketOf(ledger), Token(ledger));
        Assert.Equal(GoodbyeCode.Refused, goodbye.Code);
        Assert.Contains("one app at a time", goodbye.Why);
        ledger.AwaitLine("line about it",
            static line => line.StartsWith("app channel:", StringComparison.Ordinal)
                && line.Contains("one app at a time", StringComparison.Ordinal));
        AssertSaidOnce(ledger);
    });

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void App_WithTheTokenOfAnEarlierStart_IsRefused(bool overTcp) => OnALedger((_, ledger) =>
    {
        byte[] replayed = Token(ledger);
        ledger.KillCoordinator();
        ledger.Start(withApp: false);
        string channel = ledger.AwaitLine("app channel", static line => line.StartsWith("epoch ", StringComparison.Ordinal))
            .Split("app channel ")[1].Split(',')[0];
        EndPoint end = overTcp ? new IPEndPoint(IPAddress.Loopback, int.Parse(channel["tcp:".Length..])) : SocketOf(ledger);
        Goodbye goodbye = Refusal(end, replayed);
        Assert.Equal((GoodbyeCode.Refused, "the token is wrong"), (goodbye.Code, goodbye.Why));
        ledger.AwaitLine("line about it", static line => line == "app channel: the token is wrong");
        Assert.Single(ledger.Lines.From(ledger.StartedAt), IsAboutTheChannel);
        Assert.NotEqual(replayed, Token(ledger));
    }, options: overTcp ? ["--app-port", "0"] : []);

    /// <summary>The directory keeps them out; where it cannot (here it was opened on purpose), the kernel says who they are.</summary>
    [OtherUserFact]
    public void App_OfAnotherUser_IsRefused() => OnALedger((cluster, ledger) =>
    {
        string socket = Path.Combine(ledger.LogDirectory, "app.r0.sock");
        Assert.NotEqual(0, ConnectAsNobody(socket, out string said));
        Assert.Contains("Permission denied", said);
        foreach (string directory in new[] { cluster.Root, ledger.LogDirectory })
            File.SetUnixFileMode(directory, Directory0700 | UnixFileMode.OtherExecute);
        Assert.NotEqual(0, ConnectAsNobody(socket, out said));
        Assert.Contains("Permission denied", said); // by the socket's own mode
        File.SetUnixFileMode(socket, File0600 | UnixFileMode.OtherRead | UnixFileMode.OtherWrite);
        Assert.Equal(0, ConnectAsNobody(socket, out said));
        Assert.Equal("closed", said.Trim());
        ledger.AwaitLine("line about the stranger",
            static line => line.StartsWith("app channel: process ", StringComparison.Ordinal)
                && line.Contains($"of user {OtherUserFactAttribute.Nobody} ", StringComparison.Ordinal));
        AssertSaidOnce(ledger);
    });

    [Fact]
    public void App_ManyConnectionsAtOnce_AreClosedWithALineAndTheAppGoesOn() => OnALedger((_, ledger) =>
    {
        var flood = new List<Socket>();
        for (int i = 0; i < 40; i++)
        {
            flood.Add(new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified));
            flood[^1].Connect(SocketOf(ledger));
        }
        ledger.AwaitLine("line about too many",
            static line => line.StartsWith("app channel: one of more than 16", StringComparison.Ordinal));
        foreach (Socket socket in flood) socket.Dispose();
    });

    /// <summary>The log's version is that of the app that began it; the coordinator does not wait for another app to come.</summary>
    [Fact]
    public void App_OfAnotherVersionThanTheLogs_EndsTheCoordinatorWith76() => OnALedger((_, ledger) =>
    {
        ledger.KillCoordinator();
        ledger.Start(withApp: false);
        ledger.AwaitLine("app channel", static line => line.StartsWith("epoch ", StringComparison.Ordinal));
        Goodbye goodbye = Refusal(SocketOf(ledger), Token(ledger), appVersion: 2);
        Assert.Equal(GoodbyeCode.Refused, goodbye.Code);
        Assert.Contains("the log is of app version 1, and this app states version 2", goodbye.Why);
        Assert.Equal(76, ledger.AwaitExit());
        ledger.AwaitLine("exit", static line => line.StartsWith("exit 76: the log is of app version 1", StringComparison.Ordinal));
    });

    private static void OnALedger(Action<Cluster, Replica> test, string umask = "022", string[]? options = null)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 100);
        source.Settings["UNTIL"] = cluster.Until;
        ledger.Options.AddRange(options ?? []);
        cluster.Run(Cluster.Again(nameof(AppChannelTests)), () =>
        {
            ledger.Start(null, true, "/bin/sh", "-c", $"umask {umask}; exec \"$@\"", "sh");
            ledger.AwaitReady();
            test(cluster, ledger);
            // An app may still run that was a killed coordinator's, and is about to end: it is not the one of this start.
            if (ledger.Coordinator.HasExited || !ledger.HasStartedApp)
            {
                ledger.KillCoordinator();
                ledger.Start();
            }
            source.Start();
            source.AwaitReady();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, 100);
        });
    }

    private static void AssertSaidOnce(Replica replica) => Assert.Single(replica.Lines.From(0), IsAboutTheChannel);

    private static bool IsAboutTheChannel(string line) => line.StartsWith("app channel:", StringComparison.Ordinal);

    private static UnixDomainSocketEndPoint SocketOf(Replica replica) => new(Path.Combine(replica.LogDirectory, "app.r0.sock"));

    private static byte[] Token(Replica replica) => File.ReadAllBytes(Path.Combine(replica.LogDirectory, "app.r0.token"));

    /// <summary>Says hello as an app would, and returns the goodbye that must come.</summary>
    private static Goodbye Refusal(EndPoint end, byte[] token, uint appVersion = 1)
    {
        using var socket = new Socket(end.AddressFamily, SocketType.Stream,
            end is IPEndPoint ? ProtocolType.Tcp : ProtocolType.Unspecified);
        socket.ReceiveTimeout = (int)Cluster.Patience.TotalMilliseconds;
        socket.Connect(end);
        var hello = new ArrayBufferWriter<byte>();
        FrameWriter.Write(hello, new AppHello(1, 1, token, appVersion, 1, "test", "test", "", "test", 1, 1), 0, checkPayload: false);
        socket.Send(hello.WrittenSpan);
        byte[] received = new byte[4096];
        int held = 0;
        while (true)
        {
            if (FrameReader.TryRead(received.AsSpan(0, held), 0, 4096, false, out FrameHeader header, out ReadOnlySpan<byte> payload,
                out _) == DecodeStatus.Ok)
            {
                Assert.Equal(FrameType.Goodbye, header.Type);
                return Goodbye.Read(payload);
            }
            int count = socket.Receive(received.AsSpan(held));
            Assert.True(count > 0, "closed without a word");
            held += count;
        }
    }

    private static int ConnectAsNobody(string socket, out string said)
    {
        const string program =
            "my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die \"$!\\n\"; print sysread($s, my $b, 10) ? 'open' : 'closed'";
        string nobody = $"{OtherUserFactAttribute.Nobody}";
        using Process process = Process.Start(
            new ProcessStartInfo("setpriv",
                ["--reuid", nobody, "--regid", nobody, "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", program, socket])
            { RedirectStandardOutput = true, RedirectStandardError = true })!;
        said = process.StandardOutput.ReadToEnd() + process.StandardError.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode;
    }
}
