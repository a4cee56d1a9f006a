namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Impulses that are under way when their coordinator dies, or loses its role: whoever awaits one is told that nobody knows, and what he
/// is told is true: acknowledged took effect once, unknown once or never, refused never.
/// </summary>
public sealed class ImpulseFateTests
{
    private const int Senders = 4, Rounds = 20, KillsMax = 10;

    [Fact]
    public void Impulse_CoordinatorKilled_IsAnsweredUnknown()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Impulse_CoordinatorKilled_IsAnsweredUnknown)), () =>
        {
            ReplicaSet poker = Start(cluster, 1);
            Replica replica = poker.Members[0];
            bool isSeen = false;
            for (int kill = 0; kill < KillsMax && !isSeen; kill++) // a blow may fall where nothing is under way
            {
                int from = replica.StartedAt;
                AwaitTraffic(replica);
                replica.KillCoordinator();
                string[] told = AwaitFates(replica, from);
                replica.Start();
                AwaitTraffic(replica);
                AssertTrue(told, replica.Lines.From(replica.StartedAt));
                isSeen = Ids(told, "unknown").Any();
            }
            Assert.True(isSeen, $"nothing was under way at any of {KillsMax} kills");
        });
    }

    [Fact]
    public void Impulse_RoleLost_IsAnsweredUnknown()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Impulse_RoleLost_IsAnsweredUnknown)), () =>
        {
            ReplicaSet poker = Start(cluster, 2);
            (Replica old, Replica next) = (poker.Members[0], poker.Members[1]);
            ReplicaSet.AwaitCaughtUp(next);
            AwaitTraffic(old);
            Tool promoted = Tool.Run("promote", old.LogDirectory, "r1");
            Assert.True(promoted.Code == 0, promoted.Error);
            Assert.Equal(75, old.AwaitExit());
            string[] told = AwaitFates(old, 0);
            AwaitTraffic(next);
            AssertTrue(told, next.Lines.From(0));
        });
    }

    /// <summary>
    /// It stands still for longer than the limit and finds itself replaced: what it had not made durable is not in the history, and
    /// nobody was told that it is.
    /// </summary>
    [Fact]
    public void Impulse_PrimaryStoppedAndContinued_IsAnsweredUnknown()
    {
        using var cluster = new Cluster();
        cluster.Run(Cluster.Again(nameof(Impulse_PrimaryStoppedAndContinued_IsAnsweredUnknown)), () =>
        {
            ReplicaSet poker = Start(cluster, 2, "--hang-limit", "1", "--retain", "all");
            (Replica old, Replica next) = (poker.Members[0], poker.Members[1]);
            ReplicaSet.AwaitCaughtUp(next);
            AwaitTraffic(old);
            Signals.Stop(old.Coordinator.Id); // its app goes on, and waits for answers
            next.AwaitReady();
            using var reader = new HistoryReader(old.LogDirectory);
            PageOfHistory[] meanwhile = [.. reader.Advance().Pages];
            Signals.Continue(old.Coordinator.Id);
            Assert.Equal(75, old.AwaitExit());
            string[] told = AwaitFates(old, 0);
            Assert.NotEmpty(Ids(told, "unknown"));
            AwaitTraffic(next);
            AssertTrue(told, next.Lines.From(0));
            using var anew = new HistoryReader(old.LogDirectory);
            Assert.Null(HistoryReader.Difference(meanwhile, anew.Advance().Pages)); // not a byte of it has come into what was read
            Assert.True(meanwhile.Length < anew.Pages.Count);
        });
    }

    private static ReplicaSet Start(Cluster cluster, int count, params string[] options)
    {
        var poker = new ReplicaSet(cluster, "poker", "poker");
        poker.Options.AddRange(options);
        poker.Settings["SENDERS"] = $"{Senders}";
        return poker.Start(count);
    }

    /// <summary>The senders are in the middle of it; and what was there before them is executed.</summary>
    private static void AwaitTraffic(Replica replica) =>
        Cluster.Await("impulses flow",
            () =>
                replica.Lines.From(replica.StartedAt)
                    .Count(static line => line.StartsWith("acknowledged ", StringComparison.Ordinal)) >= Rounds);

    /// <summary>All lines up to the end of the last sender; that it comes is half of what is tested.</summary>
    private static string[] AwaitFates(Replica replica, int from)
    {
        Cluster.Await("every sender is answered", () => replica.Lines.From(from).Count(static line => IsEnd(line)) == Senders);
        return replica.Lines.From(from);
    }

    private static bool IsEnd(string line) =>
        line.StartsWith("unknown ", StringComparison.Ordinal) || line.StartsWith("refused ", StringComparison.Ordinal);

    private static void AssertTrue(string[] told, string[] executed)
    {
        Dictionary<string, int> effects = Ids(executed, "did").GroupBy(static id => id)
            .ToDictionary(static g => g.Key, static g => g.Count());
        string[] unknown = [.. Ids(told, "unknown")];
        Assert.All(Ids(told, "acknowledged"), id => Assert.Equal(1, effects.GetValueOrDefault(id)));
        Assert.All(unknown, id => Assert.InRange(effects.GetValueOrDefault(id), 0, 1));
        Assert.All(Ids(told, "refused"), id => Assert.Equal(0, effects.GetValueOrDefault(id)));
    }

    private static IEnumerable<string> Ids(string[] lines, string word) =>
        lines.Where(line => line.StartsWith(word + " ", StringComparison.Ordinal)).Select(static line => line.Split(' ')[1]);
}
