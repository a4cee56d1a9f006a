using System.Collections.Concurrent;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Queries against real replicas that are killed: an answer is what the log says up to its position, so it never shows what is lost, never
/// goes back for one caller, and shows what this caller was told before, whichever replica gives it.
/// </summary>
public sealed class QueryTests(ITestOutputHelper output)
{
    private const int KillsOfARelease = 40, KillsMin = 4, PauseMsMax = 300;

    private static readonly TimeSpan s_patience = Cluster.Patience;

    private static ClientOptions From(QuerySource source) =>
        new() { ConnectWithin = s_patience, QueryWithin = s_patience, QueriesFrom = source };

    [Fact]
    public async Task Query_OfThePrimary_SeesWhatWasTold()
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank").Start();
        await cluster.RunAsync(Cluster.Again(nameof(QueryTests)), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Primary));
            ClientProxy<IBank> proxy = client.GetProxy<IBank>();
            for (int n = 1; n <= 50; n++)
            {
                if (n % 3 == 0) await proxy.NoteLogged($"{n}");
                else if (n % 3 == 1) await proxy.DepositLaterAsync($"{n}");
                else await proxy.DepositAsync($"{n}");
                Assert.Equal(n, (long)await proxy.TotalAsync());
            }
            Lsn seen = client.Seen;
            bank.KillApp();
            Assert.Equal(50, (long)await proxy.TotalAsync());
            bank.KillCoordinator();
            Task<QueryAnswer<int[]>> asked = proxy.SeenAsync(["1", "2", "none"]);
            bank.Start();
            QueryAnswer<int[]> answer = await asked;
            Assert.Equal([1, 1, 0], answer.Value);
            Assert.True(answer.Position >= seen, $"{answer.Position} where {seen} was seen");
            RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => proxy.MeddleAsync());
            Assert.Equal("Ambrosia.QueryChangedState", refused.TypeName);
            Assert.Equal(50, (long)await proxy.TotalAsync()); // by the app that came after
            bank.AwaitLine("word of the app", static line => line.Contains("Bank.Meddle has changed the state", StringComparison.Ordinal));
        });
    }

    /// <summary>
    /// It is given to a second session of the app, and not to a third; the app comes back, and so do those who ask something better.
    /// </summary>
    [Fact]
    public async Task Query_ThatEndsTheApp_IsGivenUp()
    {
        using var cluster = new Cluster();
        cluster.Add("bank", "bank").Start();
        await cluster.RunAsync(Cluster.Again(nameof(QueryTests)), async () =>
        {
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Any));
            ClientProxy<IBank> proxy = client.GetProxy<IBank>();
            await proxy.NoteLogged("a");
            RequestFailedException given = await Assert.ThrowsAsync<RequestFailedException>(() => proxy.EndAsync());
            Assert.Equal("Ambrosia.AppEnded", given.TypeName);
            Assert.Equal(1, (long)await proxy.TotalAsync());
        });
    }

    /// <summary>With a standby and a position that nobody has: an error in time, which says how far they are.</summary>
    [Fact]
    public async Task Query_OfAPositionThatNobodyHas_FailsInTimeAndSaysWhy()
    {
        using var cluster = new Cluster();
        ReplicaSet set = new ReplicaSet(cluster, "bank", "bank").Start(2);
        await cluster.RunAsync(Cluster.Again(nameof(QueryTests)), async () =>
        {
            ReplicaSet.AwaitCaughtUp(set.Members[1]);
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank",
                From(QuerySource.Any) with { QueryWithin = TimeSpan.FromSeconds(3) });
            TimeoutException late = await Assert.ThrowsAsync<TimeoutException>(
                () => client.GetProxy<IBank>().AtLeast(new Lsn(1 << 30)).TotalAsync());
            Assert.Contains("1073741824 is asked for", late.Message, StringComparison.Ordinal);
            Assert.Equal(0, (long)await client.GetProxy<IBank>().TotalAsync());
        });
    }

    /// <summary>
    /// A secondary answers, also while the primary stands still, and sees what another process has written and only handed the position of.
    /// </summary>
    [Fact]
    public async Task Query_OfASecondary_SeesWhatAnotherProcessWrote()
    {
        using var cluster = new Cluster();
        ReplicaSet set = new ReplicaSet(cluster, "bank", "bank") { Options = { "--hang-limit", "60" } }.Start(2);
        await cluster.RunAsync(Cluster.Again(nameof(QueryTests)), async () =>
        {
            ReplicaSet.AwaitCaughtUp(set.Members[1]);
            await using ImmortalClient writer = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Primary));
            await using ImmortalClient reader = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Secondaries));
            ClientProxy<IBank> written = writer.GetProxy<IBank>(), read = reader.GetProxy<IBank>();
            for (int n = 1; n <= 50; n++) Assert.Equal(n, (long)await read.AtLeast(await written.NoteLogged($"{n}")).TotalAsync());
            // The catalog tells of the secondary within a second; from then on it answers, and the primary may stand still.
            Cluster.Await("the secondary in the catalog",
                () =>
                    Directory.EnumerateFiles(cluster.Catalog, "bank.*")
                        .Any(static file => File.ReadAllText(file).Contains("secondary", StringComparison.Ordinal)));
            await using ImmortalClient other = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Secondaries));
            Assert.Equal(50, (long)await other.GetProxy<IBank>().AtLeast(writer.Seen).TotalAsync());
            // Of what a primary that stands still has not stated yet nobody can know that it is durable.
            Cluster.Await("the secondary has it all", () => (ulong?)set.Members[1].Status("r1")?["log"]?["executed"] >= writer.Seen.Value);
            Signals.Stop(set.Members[0].Coordinator.Id);
            await using var resume = new Resumed(set.Members[0].Coordinator.Id);
            Assert.Equal(50, (long)await other.GetProxy<IBank>().TotalAsync().WaitAsync(s_patience));
            int[] times = await other.GetProxy<IBank>().SeenAsync(["7", "70"]).WaitAsync(s_patience);
            Assert.Equal([1, 0], times);
        });
    }

    /// <summary>
    /// Writers and readers of every preference while primaries are killed again and again: the oracle of the
    /// summary holds for every reader.
    /// </summary>
    [Theory]
    [InlineData(QuerySource.Any)]
    [InlineData(QuerySource.Secondaries)]
    public async Task Readers_PrimariesKilledAgain_SeeEverythingTheyWereTold(QuerySource source)
    {
        var chance = new Chance();
        using var cluster = new Cluster();
        ReplicaSet set = new ReplicaSet(cluster, "bank", "bank") { Options = { "--checkpoint-every", "256K" } }.Start(2);
        await cluster.RunAsync(chance.Again(source.ToString()), async () =>
        {
            var seen = new ConcurrentBag<Sight>();
            using var enough = new CancellationTokenSource();
            ImmortalClient[] clients = [await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(source)),
                await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(source))];
            Task[] readers = [.. Enumerable.Range(0, 4).Select(n => Task.Run(() => WriteAndRead(clients[n % 2], n, seen, enough.Token)))];
            int kills = Math.Max(KillsMin, TestScale.Rounds(KillsOfARelease));
            for (int kill = 0; kill < kills; kill++)
            {
                ReplicaSet.AwaitCaughtUp(set.Standby());
                chance.PassTime(PauseMsMax);
                set.Primary().KillCoordinator();
                set.StartStopped();
                set.Primary();
            }
            int before = seen.Count;
            Cluster.Await("answers behind the last kill", () => seen.Count >= before + 50);
            await enough.CancelAsync();
            await Task.WhenAll(readers).WaitAsync(s_patience);
            foreach (ImmortalClient client in clients) await client.DisposeAsync();
            output.WriteLine($"{kills} kills, {seen.Count} answers, seed {chance.Seed}");
            Assert.Null(WhatIsWrong([.. seen]));
            cluster.AssertNoneGaveUp();
        });
    }

    [Theory]
    [MemberData(nameof(Rows))]
    public async Task Coordinator_DiesInTheMiddleOfAQuery_AnotherAnswers(string point, int pass)
    {
        using var cluster = new Cluster();
        Replica bank = cluster.Add("bank", "bank");
        await cluster.RunAsync(Cluster.Again(point), async () =>
        {
            bank.Start(crashAt: $"{point}:{pass}");
            await using ImmortalClient client = await ImmortalClient.ConnectAsync(cluster.Catalog, "bank", From(QuerySource.Any));
            Task<long> last = Ask(client.GetProxy<IBank>());
            Assert.Equal(Signals.KilledExitCode, bank.AwaitExit());
            bank.Start();
            Assert.Equal(10, await last.WaitAsync(s_patience));
        });

        static async Task<long> Ask(ClientProxy<IBank> bank)
        {
            long total = 0;
            for (int n = 0; n < 10; n++)
            {
                await bank.WithKey($"{n}").NoteLogged($"{n}");
                total = await bank.TotalAsync();
            }
            return total;
        }
    }

    public static IEnumerable<object[]> Rows =>
        CrashPoints.Queries.SelectMany(static point => new[] { 1, 5 }.Select(pass => new object[] { point, pass }));

    /// <summary>What one reader saw.</summary>
    /// <param name="Written">How many of its own notes it knew to be logged when it asked.</param>
    /// <param name="Own">How many of them it saw; each once.</param>
    private sealed record Sight(int Reader, int Turn, Lsn Position, long Total, int Written, int Own, bool IsDoubled);

    private static async Task WriteAndRead(ImmortalClient client, int reader, ConcurrentBag<Sight> seen, CancellationToken enough)
    {
        ClientProxy<IBank> bank = client.GetProxy<IBank>();
        var written = new List<string>();
        for (int turn = 0; !enough.IsCancellationRequested; turn++)
        {
            string id = $"{reader}-{turn}";
            await bank.WithKey(id).NoteLogged(id);
            written.Add(id);
            QueryAnswer<int[]> own = await bank.SeenAsync([.. written.TakeLast(200)]);
            QueryAnswer<long> total = await bank.TotalAsync();
            seen.Add(
                new Sight(reader, turn, own.Position, own.Value.Length, Math.Min(200, written.Count),
                    own.Value.Count(static times => times > 0), own.Value.Any(static times => times > 1)));
            seen.Add(new Sight(reader, turn, total.Position, total.Value, 0, 0, false));
        }
    }

    /// <summary>
    /// The oracle: null if every answer shows its reader's own notes once, and one position has one total, which grows with it.
    /// </summary>
    private static string? WhatIsWrong(Sight[] seen)
    {
        if (seen.FirstOrDefault(static each => each.Own < each.Written) is { } blind) return $"{blind} does not see what it was told";
        if (seen.FirstOrDefault(static each => each.IsDoubled) is { } twice) return $"{twice} sees something twice";
        Sight? before = null;
        foreach (Sight each in seen.Where(static each => each.Written == 0).OrderBy(static each => each.Position)
            .ThenBy(static each => each.Total))
        {
            if (before is not null && each.Position == before.Position && each.Total != before.Total)
                return $"{before} and {each} differ at one position";
            if (before is not null && each.Total < before.Total) return $"{each} has less than {before}";
            before = each;
        }
        foreach (IGrouping<int, Sight> own in seen.GroupBy(static each => each.Reader))
            foreach ((Sight earlier,
                Sight later) in own.OrderBy(static each => each.Turn).Zip(own.OrderBy(static each => each.Turn).Skip(1)))
                if (later.Turn > earlier.Turn && later.Position < earlier.Position) return $"{later} goes back behind {earlier}";
        return null;
    }

    /// <summary>
    /// Negative control: the oracle finds a blind reader, something seen twice, two totals of one position, one that
    /// shrinks, and a step back.
    /// </summary>
    [Fact]
    public void WhatIsWrong_PlantedFaults_AreFound()
    {
        Sight own = new(0, 0, new Lsn(100), 0, 3, 3, false), total = new(0, 1, new Lsn(200), 7, 0, 0, false);
        Assert.Null(WhatIsWrong([own, total, total with { Turn = 2, Position = new Lsn(300), Total = 8 }]));
        Assert.Contains("does not see", WhatIsWrong([own with { Own = 2 }]), StringComparison.Ordinal);
        Assert.Contains("twice", WhatIsWrong([own with { IsDoubled = true }]), StringComparison.Ordinal);
        Assert.Contains("differ at one position", WhatIsWrong([total, total with { Total = 8 }]), StringComparison.Ordinal);
        Assert.Contains("has less than", WhatIsWrong([total, total with { Turn = 2, Position = new Lsn(300), Total = 6 }]),
            StringComparison.Ordinal);
        Assert.Contains("goes back", WhatIsWrong([total, own with { Turn = 2 }]), StringComparison.Ordinal);
    }

    private sealed class Resumed(int process) : IAsyncDisposable
    {
        public ValueTask DisposeAsync()
        {
            Signals.Continue(process);
            return ValueTask.CompletedTask;
        }
    }
}
