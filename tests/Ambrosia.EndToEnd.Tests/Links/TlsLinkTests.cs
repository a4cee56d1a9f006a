using System.Net.Sockets;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Real coordinators with certificates: calls arrive through TLS, over kills and over a change of certificates; strangers are told why not.
/// </summary>
public sealed class TlsLinkTests
{
    private const int Calls = 2_000;

    [Fact]
    public void Instances_ThroughTls_AgreeOverKillsAndANewCertificate()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica replica in new[] { source, ledger }) Certified.Give(cluster, replica, Certified.Ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            source.AwaitReady();
            ledger.AwaitReady();
            Certified.Give(cluster, ledger, Certified.Ours); // renewed while it runs
            source.KillCoordinator();
            source.Start().AwaitReady();
            AwaitWhileStrangersCome(cluster, ledger, "certificates: read again");
            ledger.AwaitLine("line about plaintext", static line => line.Contains("(P7.4)", StringComparison.Ordinal));
            ledger.KillCoordinator();
            ledger.Start().AwaitReady();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>
    /// A renewal of which a part is no certificate leaves the old ones in force, and says so: the process lives, and peers come in.
    /// </summary>
    [Theory]
    [InlineData("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "")]
    [InlineData("", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")]
    public void Instances_WhoseRenewedFilesCannotBeUsed_GoOnWithTheOld(string behindTheOwn, string behindTheAuthorities)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        foreach (Replica replica in new[] { source, ledger }) Certified.Give(cluster, replica, Certified.Ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start().AwaitReady();
            source.Start().AwaitReady();
            (string certificate, string key) = Certified.Make(ledger.Name, Certified.Ours);
            // The bad one first: the coordinator may read between two files, and each of them alone is a renewal.
            Certified.GiveOwn(cluster, ledger, (certificate + behindTheOwn, key), Certified.Ours.Certificate + behindTheAuthorities,
                authoritiesFirst: behindTheAuthorities.Length > 0);
            AwaitWhileStrangersCome(cluster, ledger, "certificates: ");
            source.KillCoordinator();
            source.Start().AwaitReady();
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            Assert.Null(ledger.Lines.Find(static line => line.StartsWith("certificates: read again", StringComparison.Ordinal)));
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>The files are read once a second at most, at a connection.</summary>
    private static void AwaitWhileStrangersCome(Cluster cluster, Replica replica, string line) =>
        Cluster.Await($"'{line}'", () =>
        {
            using var plain = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            plain.Connect(StartTests.AddressOf(cluster, replica.Name));
            plain.Send("AMBRLINK"u8);
            return replica.Lines.Find(each => each.StartsWith(line, StringComparison.Ordinal)) is not null;
        });

    [Theory]
    [InlineData(false, "other", "not for 'source'")]
    [InlineData(true, null, "none of our authorities")]
    public void Coordinator_WithACertificateThatPeersWouldRefuse_DoesNotStart(bool isForeign, string? name, string said)
    {
        using var cluster = new Cluster();
        Replica source = cluster.Add("source", "source");
        Certified.Give(cluster, source, isForeign ? Certified.Foreign : Certified.Ours, name);
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
        Certified.Give(cluster, ledger, Certified.Ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            ledger.AwaitLine("line about the plain peer",
                static line => line.Contains("give its coordinator --tls-cert", StringComparison.Ordinal));
            source.KillCoordinator();
            Certified.Give(cluster, source, Certified.Ours);
            source.Start();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>An authority that signs by another one: --tls-ca holds the first alone, the second travels with the certificates.</summary>
    [Fact]
    public void Instances_WhoseCertificatesHaveAnIntermediate_Agree()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        foreach (Replica replica in new[] { source, ledger })
        {
            (string own, string between, string key) = Certified.MakeThroughIntermediate(replica.Name);
            Certified.GiveOwn(cluster, replica, (own + between, key), Certified.Root);
        }
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    /// <summary>Without the one in between peers could not find the way to the authority, and the start says so.</summary>
    [Fact]
    public void Coordinator_WhoseIntermediateIsMissing_DoesNotStart()
    {
        using var cluster = new Cluster();
        Replica source = cluster.Add("source", "source");
        (string own, _, string key) = Certified.MakeThroughIntermediate("source");
        Certified.GiveOwn(cluster, source, (own, key), Certified.Root);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            source.Start();
            Assert.Equal(2, source.AwaitExit());
            source.AwaitLine("the reason", static line => line.Contains("none of our authorities signed it", StringComparison.Ordinal));
            Assert.False(Directory.Exists(source.LogDirectory));
        });
    }

    /// <summary>IPv6, with and without certificates, where the port is found by the system and where it is advertised.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Instances_OnIPv6Loopback_Agree(bool withCertificates)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Options.AddRange(["--listen", "[::1]:0"]);
        ledger.Options.AddRange(["--listen", "[::1]:0"]);
        if (withCertificates) foreach (Replica replica in new[] { source, ledger }) Certified.Give(cluster, replica, Certified.Ours);
        cluster.Run(Cluster.Again(nameof(TlsLinkTests)), () =>
        {
            ledger.Start();
            source.Start();
            Cluster.AssertEqual(source, Calls);
            Assert.Equal(AddressFamily.InterNetworkV6, StartTests.AddressOf(cluster, "ledger").AddressFamily);
            cluster.AssertNoneGaveUp();
        });
    }
}
