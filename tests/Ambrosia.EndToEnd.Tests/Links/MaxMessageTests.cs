namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// --max-message: what an app may send is a policy of the log, so that a replay under another limit does what was done; what a coordinator
/// takes is its own, and a peer keeps what is longer until it takes more.
/// </summary>
public sealed class MaxMessageTests
{
    private const int FillBytes = 100_000, LowBytes = 64 << 10;
    private const ulong Calls = 6;

    [Fact]
    public void Limit_RaisedAndLowered_GovernsNewCallsAndNoReplay()
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(calls: 1, burst: 1);
        source.Settings["UNTIL"] = cluster.Until;
        source.Settings["FILL"] = $"{FillBytes}";
        cluster.Run(Cluster.Again(nameof(MaxMessageTests)), () =>
        {
            Limit(ledger, "64K");
            Limit(source, "128K");
            ledger.Start().AwaitReady();
            source.Start().AwaitReady();
            source.AwaitLine("line about the receiver's limit",
                static line =>
                    line.StartsWith($"link ledger: stopped: ledger takes messages of at most {LowBytes} bytes", StringComparison.Ordinal));
            Limit(ledger, "1G");
            ledger.KillCoordinator();
            ledger.Start().AwaitReady();
            Cluster.Await("calls", () => ConnectionOrderTests.Trimmed(source, "ledger") >= Calls);

            Limit(source, "64K");
            source.KillCoordinator();
            source.Start().AwaitReady(); // its app has made the long calls again
            source.AwaitLine("the exception where the call is made",
                static line => line.Contains($"longer than the limit of {LowBytes} bytes", StringComparison.Ordinal));
            ulong made = Made(source);
            Assert.True(made >= Calls);

            Limit(source, "128K");
            source.KillCoordinator();
            source.Start().AwaitReady();
            source.AwaitLine("the same exception at replay",
                static line => line.Contains($"longer than the limit of {LowBytes} bytes", StringComparison.Ordinal));
            Cluster.Await("all calls there", () => ConnectionOrderTests.Trimmed(source, "ledger") == made);
            Assert.Equal(made, Made(source)); // what was refused once is not made by a replay
            cluster.AssertNoneGaveUp();
        });
    }

    private static void Limit(Replica replica, string size)
    {
        replica.Options.Clear();
        replica.Options.AddRange(["--max-message", size]);
    }

    private static ulong Made(Replica source) =>
        (ulong)source.Status()!["outboxes"]!.AsArray().Single(static box => (string?)box!["to"] == "ledger")!["calls"]!;
}
