using System.Net.Sockets;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Real coordinators with certificates: calls arrive through TLS, over kills and over a change of certificates; strangers are told why not.</summary>
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
            ledger.AwaitLine("line about the plain peer", static line => line.Contains("give its coordinator --tls-cert", StringComparison.Ordinal));
            source.KillCoordinator();
            Certified.Give(cluster, source, Certified.Ours);
            source.Start();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }
}
