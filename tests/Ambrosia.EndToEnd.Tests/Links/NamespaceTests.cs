using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Two instances on two networks, whose wire is pulled and put back under load: every call arrives once and in order.</summary>
public sealed class NamespaceTests(ITestOutputHelper output)
{
    private const int PullsOfARelease = 20, PullsMin = 3, CallsOfARelease = 100_000, PauseMsMax = 2_500, Port = 4711;

    /// <summary>
    /// Each third pull lasts until both have found out by the missing heartbeats; the others are short enough for TCP to mend, mostly.
    /// </summary>
    [NamespaceTheory]
    [InlineData(false, false)]
    [InlineData(true, true)]
    public void Instances_WhoseWireIsPulledUnderLoad_AgreeOnEveryCall(bool isIPv6, bool withCertificates)
    {
        var chance = new Chance();
        int pulls = Math.Max(PullsMin, TestScale.Rounds(PullsOfARelease)), calls = TestScale.Rounds(CallsOfARelease);
        using var networks = new TwoNetworks();
        using var cluster = new Cluster(); // its processes end before their networks do
        (Replica source, Replica ledger) = cluster.Pair(calls, burst: 50);
        source.Settings["UNTIL"] = cluster.Until;
        Place(cluster, source, 0, isIPv6, withCertificates);
        Place(cluster, ledger, 1, isIPv6, withCertificates);
        cluster.Run(chance.Again(nameof(Instances_WhoseWireIsPulledUnderLoad_AgreeOnEveryCall)), () =>
        {
            ledger.Start(null, true, networks.Inside(1));
            source.Start(null, true, networks.Inside(0));
            source.AwaitReady();
            ledger.AwaitReady();
            for (int n = 0; n < pulls; n++)
            {
                AwaitCalls(source);
                int side = chance.Below(2);
                networks.Down(side);
                if (n % 3 == 0) Cluster.Await("word of the silence on both sides", () => !IsOpen(source) && !IsOpen(ledger));
                else chance.PassTime(PauseMsMax);
                networks.Up(side);
            }
            AwaitCalls(source);
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, calls);
            cluster.AssertNoneGaveUp();
        });
        output.WriteLine($"{pulls} pulls, seed {chance.Seed}");
    }

    /// <summary>Negative control: there is no other way than that wire.</summary>
    [NamespaceTheory]
    [InlineData(false)]
    public void Instances_WhoseWireIsNeverThere_DoNotAgree(bool isIPv6)
    {
        using var networks = new TwoNetworks();
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 100);
        Place(cluster, source, 0, isIPv6, withCertificates: false);
        Place(cluster, ledger, 1, isIPv6, withCertificates: false);
        cluster.Run(Cluster.Again(nameof(Instances_WhoseWireIsNeverThere_DoNotAgree)), () =>
        {
            networks.Down(1);
            ledger.Start(null, true, networks.Inside(1));
            source.Start(null, true, networks.Inside(0));
            source.AwaitLine("line about the peer", static line => line.Contains("ledger cannot be reached", StringComparison.Ordinal));
            Assert.Null(source.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
        });
    }

    /// <summary>With certificates the one listens on everything and says what to dial; without, the operator allows it in a word.</summary>
    private static void Place(Cluster cluster, Replica replica, int side, bool isIPv6, bool withCertificates)
    {
        string address = TwoNetworks.AddressOf(side, isIPv6), own = isIPv6 ? $"[{address}]:{Port}" : $"{address}:{Port}",
            all = isIPv6 ? $"[::]:{Port}" : $"0.0.0.0:{Port}";
        if (withCertificates) Certified.Give(cluster, replica, Certified.Ours);
        else replica.Options.Add("--insecure");
        replica.Options.AddRange(side == 0 ? ["--listen", own] : ["--listen", all, "--advertise", own]);
    }

    private static void AwaitCalls(Replica source)
    {
        ulong before = Acknowledged(source);
        Cluster.Await("calls that arrive", () => Acknowledged(source) > before + 100);
    }

    private static ulong Acknowledged(Replica source) =>
        (ulong?)source.Status()?["outboxes"]?.AsArray().FirstOrDefault(static box => (string?)box!["to"] == "ledger")?["trimmed"] ?? 0;

    private static bool IsOpen(Replica replica) =>
        replica.Status()?["links"]?.AsArray().Any(static link => (string?)link!["state"] == "open") ?? false;
}
