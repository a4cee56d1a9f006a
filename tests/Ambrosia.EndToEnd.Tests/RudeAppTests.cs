namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// An app that breaks the protocol and keeps its connection does not keep its place: its coordinator ends it and starts the next, with
/// which the instance goes on.
/// </summary>
public sealed class RudeAppTests
{
    private const int Calls = 2_000, CallBytes = 16 * 1024;

    /// <summary>More than a connection, or a ring, holds: what the coordinator has for an app that does not read stays with it.</summary>
    private const ulong MuchBytes = 12 << 20;

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public void App_ThatBreaksTheProtocolAndStays_IsReplaced(bool hasRings, bool readsOn)
    {
        using var cluster = new Cluster();
        (Replica source, Replica ledger) = cluster.Pair(Calls, burst: 100);
        source.Settings["UNTIL"] = cluster.Until;
        source.Settings["FILL"] = $"{CallBytes}";
        string rude = ledger.Settings["RUDE"] = Path.Combine(cluster.Root, "rude");
        if (readsOn) ledger.Settings["RUDE_READS"] = "1";
        if (hasRings) ledger.Options.Add("--app-rings");
        cluster.Run(Cluster.Again(nameof(RudeAppTests)), () =>
        {
            ledger.Start();
            ledger.AwaitReady();
            source.Start();
            source.AwaitReady();
            Cluster.Await("a long log", () => ((ulong?)ledger.Status()?["log"]?["durable"] ?? 0) > MuchBytes);
            File.Create(rude).Dispose();
            ledger.KillApp();
            ledger.AwaitLine("line about it",
                static line => line.StartsWith("app channel: the app broke the protocol", StringComparison.Ordinal));
            int broke = ledger.AppId ?? 0; // 0: it has been replaced already
            Cluster.Await("the next app", () => ledger.AppId is { } next && next != broke);
            Cluster.Await("the end of the one before", () => ledger.RunningApps.Count == 1);
            Assert.False(File.Exists(rude));
            File.Create(cluster.Until).Dispose();
            Cluster.AssertEqual(source, Calls);
            cluster.AssertNoneGaveUp();
        });
    }
}
