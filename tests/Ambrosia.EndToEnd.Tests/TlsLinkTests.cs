using System.Net.Sockets;
using System.Security.Cryptography;
using CRA;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Real coordinators with certificates: calls arrive through TLS, over kills and over a change of certificates; strangers are told why not.</summary>
public sealed class TlsLinkTests
{
    private const int Calls = 2_000;

    private static readonly (string Certificate, string Key) ours = MakeAuthority(), foreign = MakeAuthority();

    private static (string Certificate, string Key) MakeAuthority() => DevelopmentCertificates.MakeAuthority("test", DateTimeOffset.UtcNow, RandomNumberGenerator.Fill);

    /// <summary>Gives the replica the three files, and its coordinator the options.</summary>
    private static void Certify(Cluster cluster, Replica replica, (string Certificate, string Key) authority, string? name = null)
    {
        (string certificate, string key) = DevelopmentCertificates.MakeInstance(name ?? replica.Name, authority.Certificate, authority.Key, DateTimeOffset.UtcNow, TimeSpan.FromDays(1), RandomNumberGenerator.Fill);
        string[] files = [.. new[] { "pem", "key", "ca" }.Select(end => Path.Combine(cluster.Root, $"{replica.Name}.{end}"))];
        foreach ((string file, string text) in files.Zip([certificate, key, ours.Certificate]))
        {
            File.WriteAllText(file + ".new", text);
            File.SetUnixFileMode(file + ".new", UnixFileMode.UserRead | UnixFileMode.UserWrite);
            File.Move(file + ".new", file, overwrite: true);
        }
        if (!replica.Options.Contains("--tls-cert")) replica.Options.AddRange(["--tls-cert", files[0], "--tls-key", files[1], "--tls-ca", files[2]]);
    }

    [Fact]
    public void Instances_ThroughTls_AgreeOverKillsAndANewCertificate()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica replica in new[] { source, ledger }) Certify(cluster, replica, ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            source.AwaitReady();
            ledger.AwaitReady();
            Certify(cluster, ledger, ours); // renewed while it runs
            source.KillCoordinator();
            source.Start().AwaitReady();
            // The files are looked at once a second at most, when somebody comes.
            Cluster.Await("word about the new certificate", () =>
            {
                using var plain = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                plain.Connect(StartTests.AddressOf(cluster, "ledger"));
                plain.Send("AMBRLINK"u8);
                return ledger.Lines.Find(static line => line.StartsWith("certificates: read again", StringComparison.Ordinal)) is not null;
            });
            ledger.AwaitLine("line about plaintext", static line => line.Contains("(P7.4)", StringComparison.Ordinal));
            ledger.KillCoordinator();
            ledger.Start().AwaitReady();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    [Theory]
    [InlineData(false, "other", "not for 'source'")]
    [InlineData(true, null, "none of our authorities")]
    public void Coordinator_WithACertificateThatPeersWouldRefuse_DoesNotStart(bool isForeign, string? name, string said)
    {
        using var cluster = new Cluster();
        Replica source = cluster.Add("source", "source");
        Certify(cluster, source, isForeign ? foreign : ours, name);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            source.Start();
            Assert.Equal(2, source.AwaitExit());
            source.AwaitLine("the reason", line => line.Contains(said, StringComparison.Ordinal));
            Assert.False(Directory.Exists(source.LogDirectory));
        });
    }

    /// <summary>One side without certificates, then put right: the calls that waited arrive.</summary>
    [Fact]
    public void Instances_OneWithoutCertificates_SayHowToMendIt_AndAgreeAfterwards()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        Certify(cluster, ledger, ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            ledger.AwaitLine("line about the plain peer", static line => line.Contains("give its coordinator --tls-cert", StringComparison.Ordinal));
            source.KillCoordinator();
            Certify(cluster, source, ours);
            source.Start();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }
}
