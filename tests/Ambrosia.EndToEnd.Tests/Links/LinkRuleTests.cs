using System.Text.Json;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Authentication;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A peer that is not who it was, or not where it was: the other side says so in a line, with the way out, and goes on with everybody else.
/// </summary>
public sealed class LinkRuleTests
{
    private const int Calls = 500, ExitNotPrimary = 75;

    /// <summary>More log than any start writes: there are calls in it.</summary>
    private const long CallsBytes = 200_000;

    /// <summary>
    /// Runs both until the source has logged that the ledger has its calls, with the directory of one of them copied away before.
    /// </summary>
    private static string RunPastACopy(Cluster cluster, Replica source, Replica ledger, Replica copied)
    {
        ledger.Start();
        source.Start();
        source.AwaitReady();
        ledger.AwaitReady();
        Cluster.Await("the first calls", () => LogBytes(ledger) > CallsBytes);
        copied.KillCoordinator();
        string copy = Path.Combine(cluster.Root, "copy");
        Assert.Equal("", Run("cp", "-a", copied.LogDirectory, copy));
        long before = LogBytes(ledger);
        copied.Start().AwaitReady();
        Cluster.Await("more calls", () => LogBytes(ledger) > before + CallsBytes);
        return copy;
    }

    private static string Run(string program, params string[] arguments) => SmallDisk.Run(program, arguments);

    private static long LogBytes(Replica replica) => Directory.Exists(replica.LogDirectory)
        ? Directory.EnumerateFiles(replica.LogDirectory, "log.*").Sum(static file => LogFile.LastPageEnd(file)) : 0;

    /// <param name="catalogToo">The catalog's newer entry is gone as well, so that only peers can know better.</param>
    private static void PutBack(Cluster cluster, Replica replica, string copy, bool catalogToo)
    {
        string[] entries = catalogToo ? Directory.GetFiles(Path.Combine(cluster.Root, "catalog"), $"{replica.Name}.*") : [];
        foreach (string entry in entries) File.Delete(entry);
        Directory.Delete(replica.LogDirectory, recursive: true);
        Assert.Equal("", Run("cp", "-a", copy, replica.LogDirectory));
    }

    private static (Replica Source, Replica Ledger) EndlessPair(Cluster cluster)
    {
        (Replica source, Replica ledger) = cluster.Pair(Calls);
        source.Settings["UNTIL"] = cluster.Until;
        return (source, ledger);
    }

    /// <summary>
    /// The copy claims the very epoch that its peer has seen already; what each has of the other's calls betrays it. Whoever judges the
    /// first hello finds it, the copy ends: it must answer no caller out of a past in which acknowledged calls never were.
    /// </summary>
    [Theory]
    [InlineData("source")]
    [InlineData("ledger")]
    public void Instance_RestoredFromACopy_IsStoppedWithTheReasonWhileItsPeerGoesOn(string restored)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = EndlessPair(cluster);
        (Replica old, Replica peer) = restored == "source" ? (source, ledger) : (ledger, source);
        cluster.Run(Cluster.Again(nameof(LinkRuleTests)), () =>
        {
            string copy = RunPastACopy(cluster, source, ledger, old);
            old.KillCoordinator();
            PutBack(cluster, old, copy, catalogToo: true);
            old.Start();
            Assert.Equal(ExitNotPrimary, old.AwaitExit());
            old.AwaitLine("the way out",
                static line => line.Contains("our log is older, as a restored copy is", StringComparison.Ordinal)
                    && line.Contains("Put the newer log back", StringComparison.Ordinal));
            Assert.True(peer.IsRunning, "the peer ended, too");
        });
    }

    [Fact]
    public void Ledger_RestoredUnderACatalogThatKnowsMore_DoesNotStart()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = EndlessPair(cluster);
        cluster.Run(Cluster.Again(nameof(Ledger_RestoredUnderACatalogThatKnowsMore_DoesNotStart)), () =>
        {
            string copy = RunPastACopy(cluster, source, ledger, ledger);
            ledger.KillCoordinator();
            PutBack(cluster, ledger, copy, catalogToo: false);
            ledger.Start();
            Assert.Equal(2, ledger.AwaitExit());
            ledger.AwaitLine("the way out", static line => line.Contains("put the newer log back", StringComparison.Ordinal));
        });
    }

    [Fact]
    public void Ledger_DeletedAndMadeAgain_IsStoppedWithTheWayOut()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = EndlessPair(cluster);
        cluster.Run(Cluster.Again(nameof(Ledger_DeletedAndMadeAgain_IsStoppedWithTheWayOut)), () =>
        {
            ledger.Start();
            source.Start();
            Cluster.Await("the first calls", () => LogBytes(ledger) > CallsBytes);
            ledger.KillCoordinator();
            Directory.Delete(ledger.LogDirectory, recursive: true);
            ledger.Options.Add("--create");
            ledger.Start().AwaitReady();
            string line = source.AwaitLine("word about the other UUID",
                static line => line.Contains("deleted and made again", StringComparison.Ordinal));
            Assert.Contains("ambrosia forget-peer DIR ledger", line);
            Assert.True(source.IsRunning && ledger.IsRunning, "one of them ended");
        });
    }

    /// <summary>
    /// Who comes in the source's name with an epoch that is over, or with another UUID, is sent away with the reason; the
    /// true one is not disturbed.
    /// </summary>
    [Fact]
    public void Ledger_CalledByAZombie_SendsItAwayAndServesTheTrueOne()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = EndlessPair(cluster);
        var chance = new Chance();
        cluster.Run(chance.Again(nameof(LinkRuleTests)), () =>
        {
            ledger.Start();
            source.Start().AwaitReady();
            source.KillCoordinator();
            source.Start().AwaitReady(); // its second epoch
            Cluster.Await("the first calls", () => LogBytes(ledger) > CallsBytes);
            foreach ((Guid uuid, ulong epoch,
                string reason) in new[] { (UuidOf(cluster, "source"), 1ul, "comes with epoch 1"),
                    (Guid.NewGuid(), 9ul, "deleted and made again") })
            {
                using var zombie = new RawLink(StartTests.AddressOf(cluster, "ledger"),
                    File.ReadAllBytes(Path.Combine(cluster.Root, "catalog", DirectoryCatalog.SecretName)),
                    chance.Bytes(LinkAuthentication.NonceBytes));
                zombie.Send(
                    new Hello(1, 1, uuid, new InstanceId("source"), "r0", new Epoch(epoch), 99, "ledger", Guid.Empty, new Epoch(0), 0, 0, 0,
                        new Epoch(0), 0, 1 << 20));
                Assert.Contains(reason, Goodbye.Read(zombie.Await(FrameType.Goodbye)).Why);
                ledger.AwaitLine($"line with '{reason}'", line => line.Contains(reason, StringComparison.Ordinal));
            }
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }

    private static Guid UuidOf(Cluster cluster, string instance)
    {
        string file = Directory.EnumerateFiles(Path.Combine(cluster.Root, "catalog"), $"{instance}.*").First();
        using JsonDocument entry = JsonDocument.Parse(File.ReadAllText(file));
        return entry.RootElement.GetProperty("uuid").GetGuid();
    }
}
