using System.Buffers;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Authentication;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Everybody who is not let in by certificates, at the door of a real coordinator: refused with one line that says why,
/// and the service goes on.
/// </summary>
public sealed class TlsAttackTests
{
    private const int Calls = 500;

    /// <summary>A stranger's way of being the wrong one.</summary>
    public enum Attack { NoCertificate, WrongAuthority, Expired, NotYetValid, Tls12, Plaintext, WrongSecret, AnotherName, Garbage }

    [Theory]
    [InlineData(Attack.NoCertificate, "showed no certificate; give it --tls-cert")]
    [InlineData(Attack.WrongAuthority, "none of our authorities signed it; give it a certificate of theirs")]
    [InlineData(Attack.Expired, "expired at ")]
    [InlineData(Attack.NotYetValid, "not valid yet")]
    [InlineData(Attack.Tls12, "TLS 1.3 was not agreed on")]
    [InlineData(Attack.Plaintext, "give its coordinator --tls-cert")]
    [InlineData(Attack.WrongSecret, "does not know the catalog's secret, or was reached by another address")]
    [InlineData(Attack.AnotherName, "the certificate of the connection is for other: give it one with its own name (P7.5)")]
    [InlineData(Attack.Garbage, "other first bytes than TLS's: neither a coordinator nor a caller. Keep others away")]
    public void Ledger_AttackedAtItsDoor_RefusesWithALineAndServes(Attack attack, string reason)
    {
        using var cluster = new Cluster();
        var chance = new Chance();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica replica in new[] { source, ledger }) Certified.Give(cluster, replica, Certified.Ours);
        cluster.Run(chance.Again(nameof(TlsAttackTests)), () =>
        {
            ledger.Start().AwaitReady();
            source.Start().AwaitReady();
            int from = ledger.Lines.Count;
            using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)
            {
                ReceiveTimeout = (int)Cluster.Patience.TotalMilliseconds
            })
            {
                socket.Connect(StartTests.AddressOf(cluster, "ledger"));
                Exception? ended = Record.Exception(() => Make(attack, socket, cluster, chance));
                Assert.True(ended is IOException or AuthenticationException or SocketException, $"it was let in: {ended}");
            }
            ledger.Lines.Await("line with the reason", line => line.Contains(reason, StringComparison.Ordinal), from, Cluster.Patience);
            Assert.Single(ledger.Lines.From(from), static line => line.StartsWith("link", StringComparison.OrdinalIgnoreCase));
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>Returns only if the other side lets it go on for ever.</summary>
    private static void Make(Attack attack, Socket socket, Cluster cluster, Chance chance)
    {
        if (attack is Attack.Plaintext or Attack.Garbage)
        {
            socket.Send(attack == Attack.Plaintext ? [.. "AMBRLINK"u8, .. chance.Bytes(32)] : [0xFF, .. chance.Bytes(1000)]);
            AwaitEnd(new NetworkStream(socket));
            return;
        }
        using var tls = new SslStream(new NetworkStream(socket));
        using X509Certificate2? own = CertificateOf(attack);
        tls.AuthenticateAsClient(new SslClientAuthenticationOptions
        {
            TargetHost = "", EnabledSslProtocols = attack == Attack.Tls12 ? SslProtocols.Tls12 : SslProtocols.Tls13,
            RemoteCertificateValidationCallback = static (_, _, _, _) => true, // it judges nothing
            ClientCertificateContext = own is null ? null : SslStreamCertificateContext.Create(own, null, offline: true),
        });
        byte[] secret = File.ReadAllBytes(Path.Combine(cluster.Root, "catalog", DirectoryCatalog.SecretName));
        if (attack == Attack.WrongSecret) secret = chance.Bytes(secret.Length);
        uint seed = Authenticate(
            tls, socket.RemoteEndPoint!.ToString()!, secret, chance, checksTheOther: attack != Attack.WrongSecret);
        var hello = new ArrayBufferWriter<byte>();
        FrameWriter.Write(hello,
            new Hello(1, 1, Guid.NewGuid(), new InstanceId("source"), "r0", new Epoch(9), 9, "ledger", Guid.Empty, new Epoch(0), 0, 0, 0,
                new Epoch(0), 0, 1 << 20), seed, checkPayload: true);
        tls.Write(hello.WrittenSpan);
        AwaitEnd(tls);
    }

    private static X509Certificate2? CertificateOf(Attack attack)
    {
        if (attack == Attack.NoCertificate) return null;
        DateTimeOffset now = DateTimeOffset.UtcNow;
        (string certificate, string key) = attack switch
        {
            Attack.WrongAuthority => Certified.Make("source", Certified.Foreign),
            Attack.Expired => Certified.Make("source", Certified.Ours, now.AddMinutes(-4), TimeSpan.FromMinutes(3)),
            Attack.NotYetValid => Certified.Make("source", Certified.Ours, now.AddDays(2)),
            Attack.AnotherName => Certified.Make("other", Certified.Ours),
            _ => Certified.Make("source", Certified.Ours),
        };
        return X509Certificate2.CreateFromPem(certificate, key);
    }

    /// <summary>P7.1 by hand; one with a wrong secret sends its proof all the same.</summary>
    private static uint Authenticate(Stream stream, string address, byte[] secret, Chance chance, bool checksTheOther)
    {
        LinkAuthentication side = LinkAuthentication.Dialler(secret, chance.Bytes(LinkAuthentication.NonceBytes), address);
        byte[] received = new byte[LinkAuthentication.AnswerBytes], reply = new byte[LinkAuthentication.ReplyBytesMax];
        int count = 0;
        while (true)
        {
            AuthenticationStatus status;
            int replyBytes;
            try
            {
                status = side.Feed(received.AsSpan(0, count), out _, reply, out replyBytes);
            }
            catch (ProtocolViolation) when (!checksTheOther)
            {
                stream.Write(chance.Bytes(LinkAuthentication.ProofBytes));
                return 0;
            }
            stream.Write(reply.AsSpan(0, replyBytes));
            if (status == AuthenticationStatus.Done) return side.Seed;
            count = stream.Read(received.AsSpan(0, side.BytesWanted));
            if (count == 0) throw new IOException("closed");
        }
    }

    private static void AwaitEnd(Stream stream)
    {
        byte[] received = new byte[4096];
        while (stream.Read(received) > 0) { }
        throw new IOException("closed");
    }

    /// <summary>
    /// Negative control: the same stranger with the right certificate gets as far as a hello that is judged by its epoch and UUID.
    /// </summary>
    [Fact]
    public void Control_TheRightCertificate_IsLetInAsFarAsItsHello()
    {
        using var cluster = new Cluster();
        var chance = new Chance();
        Replica ledger = cluster.Add("ledger", "ledger");
        Certified.Give(cluster, ledger, Certified.Ours);
        cluster.Run(chance.Again(nameof(TlsAttackTests)), () =>
        {
            ledger.Start().AwaitReady();
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(StartTests.AddressOf(cluster, "ledger"));
            using var tls = new SslStream(new NetworkStream(socket));
            using X509Certificate2 own = CertificateOf(Attack.Plaintext)!;
            tls.AuthenticateAsClient(new SslClientAuthenticationOptions
            {
                TargetHost = "", RemoteCertificateValidationCallback = static (_, _, _, _) => true,
                ClientCertificateContext = SslStreamCertificateContext.Create(own, null, offline: true),
            });
            byte[] secret = File.ReadAllBytes(Path.Combine(cluster.Root, "catalog", DirectoryCatalog.SecretName));
            uint seed = Authenticate(tls, socket.RemoteEndPoint!.ToString()!, secret, chance, checksTheOther: true);
            var hello = new ArrayBufferWriter<byte>();
            FrameWriter.Write(hello,
                new Hello(1, 1, Guid.NewGuid(), new InstanceId("source"), "r0", new Epoch(1), 1, "ledger", Guid.Empty, new Epoch(0), 0, 0,
                    0, new Epoch(0), 0, 1 << 20), seed, checkPayload: true);
            tls.Write(hello.WrittenSpan);
            byte[] header = new byte[FrameHeader.Bytes];
            tls.ReadExactly(header);
            Assert.Equal(FrameType.Hello, FrameHeader.Read(header, seed, LinkAuthentication.GreetingBytes * 100).Type);
        });
    }
}
