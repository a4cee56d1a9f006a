using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Authentication;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// In every way in which the other side can be the wrong one it is refused with one line that says why, and the listener goes on.
/// </summary>
public sealed class TlsTests
{
    private static readonly Authority s_ours = new(), s_foreign = new();

    private static (LinkConnection Dialled, LinkConnection Accepted) Pair(
        LoopbackLinks links, LinkSettings? dialler = null, string peer = "ledger")
    {
        LinkConnection dialled = LinkDialler.Dial(links.Address, dialler ?? s_ours.Settings("source"), peer: peer);
        return (dialled, links.Accepted());
    }

    private static void AssertServes(LoopbackLinks links)
    {
        (LinkConnection dialled, LinkConnection accepted) = Pair(links);
        Assert.Equal(dialled.Seed, accepted.Seed);
        dialled.Dispose();
        accepted.Dispose();
    }

    // The dialler fails too, the listener says why on one line, and serves the next.
    private static void AssertRefused(LinkSettings listener, LinkSettings dialler, string why, string peer = "ledger")
    {
        using var links = new LoopbackLinks(listener);
        Exception? failed = DialAndRead(links, dialler, peer);
        Assert.True(failed is LinkUnreachableException or ProtocolViolation, $"{failed}");
        Assert.Contains(why, links.OneLogLine(), StringComparison.Ordinal);
        Assert.False(links.HasAccepted);
        AssertServes(links);
        Assert.Single(links.Log);
    }

    private static Exception? DialAndRead(LoopbackLinks links, LinkSettings dialler, string peer) =>
        Record.Exception(() => LinkDialler.Dial(links.Address, dialler, peer: peer));

    [Fact]
    public void Dial_WithCertificatesBothWays_TellsBothWhoTheOtherIs()
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger"));
        (LinkConnection dialled, LinkConnection accepted) = Pair(links);
        Assert.Equal(["ledger"], dialled.CertifiedNames);
        Assert.Equal(["source"], accepted.CertifiedNames);
        Assert.Equal(dialled.Seed, accepted.Seed);
        dialled.Dispose();
        accepted.Dispose();
        Assert.Empty(links.Log);
    }

    [Theory]
    [InlineData("a")]
    [InlineData("Upper_and-under9-")]
    [InlineData("n23456789012345678901234567890123456789012345678901234567890123")]
    public void Dial_OfAnyNameAnInstanceCanHave_IsFoundInItsCertificate(string name)
    {
        using var links = new LoopbackLinks(s_ours.Settings(name));
        (LinkConnection dialled, LinkConnection accepted) = Pair(links, peer: name);
        Assert.Equal([name], dialled.CertifiedNames);
        dialled.Dispose();
        accepted.Dispose();
    }

    [Fact]
    public void Dial_OfOneWithAnotherName_IsRefusedByTheDialler()
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger"));
        foreach (string peer in new[] { "other", "LEDGER", "ledge", "ledger2" })
        {
            var violation = Assert.IsType<ProtocolViolation>(DialAndRead(links, s_ours.Settings("source"), peer));
            Assert.Equal("P7.5", violation.Section);
            Assert.Contains($"'ledger', and '{peer}' was called", violation.Message, StringComparison.Ordinal);
        }
        AssertServes(links);
    }

    [Fact]
    public void Dial_OfAnotherAuthority_IsRefusedByTheDialler()
    {
        using var links = new LoopbackLinks(Authority.SettingsOf(s_foreign.For("ledger", others: s_ours)));
        var violation = Assert.IsType<ProtocolViolation>(DialAndRead(links, s_ours.Settings("source"), "ledger"));
        Assert.Contains("none of our authorities signed it; give it a certificate of theirs", violation.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Acceptor_OfAnotherAuthority_RefusesWithALine() =>
        AssertRefused(s_ours.Settings("ledger"), Authority.SettingsOf(s_foreign.For("source", others: s_ours)),
            "none of our authorities signed it; give it a certificate of theirs");

    [Fact]
    public void Acceptor_OfAnExpiredCertificate_RefusesWithALine() =>
        AssertRefused(s_ours.Settings("ledger"), Authority.SettingsOf(new Expired().For("source")), "expired at ");

    // An authority that is believed, and a certificate of it whose time is over.
    private sealed class Expired
    {
        public LinkCertificates For(string name) => s_ours.For(name, Authority.Now.AddMinutes(-4), TimeSpan.FromMinutes(3));
    }

    [Fact]
    public void Acceptor_OfAWrongSecret_RefusesWithALine() =>
        AssertRefused(s_ours.Settings("ledger"), s_ours.Settings("source") with { Secret = LoopbackLinks.SecretOf(2) }, "");

    [Fact]
    public void Acceptor_OfPlaintext_RefusesWithALineThatSaysHowToMendIt() =>
        AssertRefused(s_ours.Settings("ledger"), LoopbackLinks.Settings, "give its coordinator --tls-cert");

    [Fact]
    public void PlainAcceptor_OfTls_RefusesWithALineThatSaysHowToMendIt()
    {
        using var links = new LoopbackLinks();
        Assert.IsType<LinkUnreachableException>(DialAndRead(links, s_ours.Settings("source"), "ledger"));
        Assert.Contains("give this coordinator --tls-cert", links.OneLogLine(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(SslProtocols.Tls12, true, "TLS 1.3 was not agreed on")]
    [InlineData(SslProtocols.Tls13, false, "showed no certificate; give it --tls-cert")]
    public void Acceptor_OfTlsThatIsNotOurs_RefusesWithALine(SslProtocols protocol, bool withCertificate, string why)
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger"));
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(IPAddress.Loopback, links.Port);
        using var tls = new SslStream(new NetworkStream(socket));
        (string certificate, string key) = s_ours.Pem("source");
        using X509Certificate2 own = X509Certificate2.CreateFromPem(certificate, key);
        Exception? failed = Record.Exception(() =>
        {
            tls.AuthenticateAsClient(new SslClientAuthenticationOptions
            {
                TargetHost = "", EnabledSslProtocols = protocol, RemoteCertificateValidationCallback = (_, _, _, _) => true,
                ClientCertificates = withCertificate ? [own] : [],
            });
            Assert.NotEqual(0, tls.Read(new byte[1]));
        });
        Assert.NotNull(failed);
        Assert.Contains(why, links.OneLogLine(), StringComparison.Ordinal);
        AssertServes(links);
    }

    [Fact]
    public void Acceptor_OfGarbageAndHalfHandshakes_RefusesEachWithALine()
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger") with { AuthenticationMax = TimeSpan.FromMilliseconds(500) });
        var random = new Random(7);
        byte[][] attacks = [[0], [0x16], [0x16, 3, 3, 0xFF, 0xFF], "GET / HTTP/1.1\r\n\r\n"u8.ToArray(), [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0],
            new byte[100_000], new byte[100_000]];
        for (int i = 5; i < 7; i++)
        {
            random.NextBytes(attacks[i]);
            if (i == 6) new byte[] { 0x16, 3, 3, 0x40, 0 }.CopyTo(attacks[i], 0);
        }
        for (int i = 0; i < attacks.Length; i++)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(IPAddress.Loopback, links.Port);
            Record.Exception(() => socket.Send(attacks[i]));
            Deadline.Await(() => links.Log.Count == i + 1, $"a line about attack {i}");
        }
        AssertServes(links);
        Assert.Equal(attacks.Length, links.Log.Count);
    }

    // A client that resumes its TLS sessions is judged as if it did not.
    [Fact]
    public void Acceptor_OfAResumedSession_JudgesTheCertificateAgain()
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger"));
        (string certificate, string key) = s_ours.Pem("source");
        using X509Certificate2 own = X509Certificate2.CreateFromPem(certificate, key);
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = "ledger", EnabledSslProtocols = SslProtocols.Tls13, RemoteCertificateValidationCallback = (_, _, _, _) => true,
            ClientCertificateContext = SslStreamCertificateContext.Create(own, null, offline: true), AllowTlsResume = true,
        };
        for (int i = 0; i < 3; i++)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(IPAddress.Loopback, links.Port);
            using var tls = new SslStream(new NetworkStream(socket));
            tls.AuthenticateAsClient(options);
            var side = LinkAuthentication.Dialler(LoopbackLinks.SecretOf(1), new byte[32], links.Address);
            byte[] reply = new byte[LinkAuthentication.ReplyBytesMax], received = new byte[LinkAuthentication.AnswerBytes];
            int count = 0;
            while (true)
            {
                AuthenticationStatus status = side.Feed(received.AsSpan(0, count), out _, reply, out int replyBytes);
                tls.Write(reply.AsSpan(0, replyBytes));
                if (status == AuthenticationStatus.Done) break;
                count = tls.Read(received.AsSpan(0, side.BytesWanted));
                Assert.NotEqual(0, count);
            }
            using LinkConnection accepted = links.Accepted();
            Assert.Equal(["source"], accepted.CertifiedNames);
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Handshake_CutAtEveryPlace_Succeeds(int chunk)
    {
        using var choppy = new FaultyRelay(chunk, new LinkFaults { PieceBytesMax = chunk });
        using var links = new LoopbackLinks(s_ours.Settings("ledger"), advertised: choppy.Address.ToString());
        choppy.Target = new IPEndPoint(IPAddress.Loopback, links.Port);
        LinkConnection dialled = LinkDialler.Dial(choppy.Address.ToString(), s_ours.Settings("source"), peer: "ledger");
        LinkConnection accepted = links.Accepted();
        Assert.Equal(dialled.Seed, accepted.Seed);
        dialled.Dispose();
        accepted.Dispose();
    }

    [Fact]
    public void Authorities_Overlapping_LetTheOldAndTheNewIn()
    {
        LinkCertificates both = s_ours.For("ledger", others: s_foreign);
        using var links = new LoopbackLinks(Authority.SettingsOf(both));
        foreach (LinkCertificates dialler in new[] { s_ours.For("source"), s_foreign.For("source", others: s_ours) })
        {
            (LinkConnection dialled, LinkConnection accepted) = Pair(links, Authority.SettingsOf(dialler));
            dialled.Dispose();
            accepted.Dispose();
        }
        Assert.Empty(links.Log);
    }

    [Fact]
    public void Certificates_Replaced_CountFromTheNextHandshake()
    {
        LinkCertificates inForce = s_ours.For("ledger");
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Certificates = () => Volatile.Read(ref inForce) });
        (LinkConnection dialled, LinkConnection accepted) = Pair(links);
        Volatile.Write(ref inForce, s_ours.For("renamed"));
        (LinkConnection second, LinkConnection secondAccepted) = Pair(links, peer: "renamed");
        Assert.Equal(["ledger"], dialled.CertifiedNames); // the first one lives on
        foreach (LinkConnection link in new[] { dialled, accepted, second, secondAccepted }) link.Dispose();
    }

    // Negative control: a dialler that judges nothing is let in by an acceptor that believes its authority, so the refusals above are ours.
    [Fact]
    public void Control_TheRightCertificate_IsNotRefused()
    {
        using var links = new LoopbackLinks(s_ours.Settings("ledger"));
        AssertServes(links);
        Assert.Empty(links.Log);
    }
}
