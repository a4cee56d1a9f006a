using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Two immortals with a bad network between them: whatever it does, every call arrives once and in order.</summary>
public sealed class FaultyLinkTests(ITestOutputHelper output)
{
    private const int CallsOfARelease = 50_000, StrikesOfARelease = 60, SilencesOfARelease = 10, StallsOfARelease = 10;
    private const string Silence = "nothing arrived for 5 s (P6.9)";

    public static TheoryData<string> Faults => ["delays", "single bytes", "stalls", "cuts", "all of them"];

    private static LinkFaults FaultsOf(string name) => name switch
    {
        "delays" => new() { DelayMax = TimeSpan.FromMilliseconds(5) },
        "single bytes" => new() { PieceBytesMax = 1 },
        "stalls" => new() { StallWithinBytes = 10_000, StrikesMax = Math.Max(2, TestScale.Rounds(StallsOfARelease)) },
        "cuts" => new() { CutWithinBytes = 20_000, StrikesMax = Math.Max(3, TestScale.Rounds(StrikesOfARelease)) },
        _ => new()
        {
            PieceBytesMax = 100, DelayMax = TimeSpan.FromMicroseconds(50), CutWithinBytes = 20_000, StallWithinBytes = 20_000,
            StallFor = TimeSpan.FromMilliseconds(200), StrikesMax = Math.Max(4, TestScale.Rounds(StrikesOfARelease)),
        },
    };

    [Theory]
    [MemberData(nameof(Faults))]
    public void Instances_ThroughABadNetwork_AgreeOnEveryCall(string fault)
    {
        var chance = new Chance();
        LinkFaults faults = FaultsOf(fault);
        using var pair = new RelayedPair(TestScale.Rounds(CallsOfARelease), burst: 50, chance.Seed, faults);
        pair.Run(chance.Again(fault), () =>
        {
            if (faults.StrikesMax == int.MaxValue)
                Cluster.Await("bytes through the relays", () => pair.ToSource.Passed + pair.ToLedger.Passed > 20_000);
            else
                Cluster.Await("every strike of one relay",
                    () => Math.Max(pair.ToSource.Strikes, pair.ToLedger.Strikes) >= faults.StrikesMax);
        });
        output.WriteLine($"{pair.Strikes} strikes on {pair.Connections} connections, seed {chance.Seed}");
    }

    /// <summary>
    /// Neither side is told that the other hears nothing, not even by an end: only the missing heartbeats can say it, and the
    /// next connection goes on.
    /// </summary>
    [Fact]
    public void Instances_WhoseConnectionsFallSilent_FindOutByHeartbeatsAndAgree()
    {
        var chance = new Chance();
        int silences = TestScale.Rounds(SilencesOfARelease);
        using var pair = new RelayedPair(TestScale.Rounds(CallsOfARelease), burst: 50, chance.Seed, new LinkFaults());
        pair.Run(chance.Again(nameof(Instances_WhoseConnectionsFallSilent_FindOutByHeartbeatsAndAgree)), () =>
        {
            for (int n = 0; n < silences; n++)
            {
                long passed = pair.ToSource.Passed + pair.ToLedger.Passed;
                Cluster.Await("calls pass", () => pair.ToSource.Passed + pair.ToLedger.Passed > passed + 1000);
                int connections = pair.Connections;
                pair.ToSource.HalfOpenAll();
                pair.ToLedger.HalfOpenAll();
                Cluster.Await("the next connection", () => pair.Connections > connections);
            }
            Cluster.Await("the line about it", () => pair.Count(Silence) > 0); // which a pipe may bring behind the connection
            Assert.InRange(pair.Count(Silence), 1, 2 * silences); // again and again it is said ever more seldom
        });
    }

    /// <summary>Negative control: there is no other way than through the relays.</summary>
    [Fact]
    public void Instances_WithNoWayThrough_DoNotAgree()
    {
        using var pair = new RelayedPair(100, burst: 50, 1, new LinkFaults());
        pair.ToSource.Target = pair.ToLedger.Target = null;
        pair.Ledger.Start();
        pair.Source.Start();
        pair.Source.AwaitLine("line about the peer", static line => line.Contains("ledger cannot be reached", StringComparison.Ordinal));
        Assert.Null(pair.Source.Lines.Find(static line => line.StartsWith("verdict ", StringComparison.Ordinal)));
        pair.Passed();
    }
}
