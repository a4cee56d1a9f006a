using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>Calls the account of a cluster, and compares its books with the ledger's.</summary>
internal static class Accounts
{
    public static string AwaitWhy(Replica replica, string why) =>
        replica.AwaitLine(why, line => line.Contains(why, StringComparison.Ordinal));

    /// <summary>The checkpoints of a replica's log, the newest last.</summary>
    public static string[] CheckpointsOf(Replica replica) =>
        [.. Directory.EnumerateFiles(replica.LogDirectory, "ckpt.*").Order(StringComparer.Ordinal)];

    /// <summary>Damages a file in its middle, by one bit.</summary>
    public static void FlipABit(string file)
    {
        byte[] bytes = File.ReadAllBytes(file);
        bytes[bytes.Length / 2] ^= 1;
        File.WriteAllBytes(file, bytes);
    }

    /// <summary>The app of a replica that runs this program.</summary>
    public static int AppOf(Replica replica, string program) =>
        replica.RunningApps.Single(id => File.ReadAllText($"/proc/{id}/cmdline").Contains(program, StringComparison.Ordinal));

    /// <summary>Runs a test on a service of version 1 that has three deposits, and its ledger.</summary>
    /// <param name="again">The test's name, or the command that repeats it.</param>
    public static async Task RunOfVersion1(string again, Func<Cluster, Replica, Task> body)
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger"), account = cluster.Add("account", "account1");
        await cluster.RunAsync(again.Contains(' ', StringComparison.Ordinal) ? again : Cluster.Again(again), async () =>
        {
            ledger.Start().AwaitReady();
            account.Start().AwaitReady();
            Assert.Equal("1:300", await Deposit(cluster, 3));
            await body(cluster, account);
        });
    }

    /// <summary>
    /// Gives a replica the command line of both builds: when it is started again, it makes the upgrade, or goes on behind it.
    /// </summary>
    public static Replica WithBothBuilds(Replica account)
    {
        account.Options.AddRange(["--upgrade-to", "2", "--old-app", $"{Executables.App} account1"]);
        (account.App, account.Role) = (Executables.NextApp, "account2");
        return account;
    }

    /// <summary>Makes so many deposits of 100 cents, and returns the last answer.</summary>
    public static async Task<string> Deposit(Cluster cluster, int count)
    {
        string last = "";
        await using ImmortalClient client = await cluster.ConnectAsync("account");
        ClientProxy<IAccount> account = client.GetProxy<IAccount>();
        for (int i = 0; i < count; i++) last = await account.DepositAsync(100).WaitAsync(Cluster.Patience);
        return last;
    }

    public static async Task<string> Ask(Cluster cluster, Func<ClientProxy<IAccount>, Task<string>> ask)
    {
        await using ImmortalClient client = await cluster.ConnectAsync("account");
        return await ask(client.GetProxy<IAccount>()).WaitAsync(Cluster.Patience);
    }

    /// <summary>Calls with keys until it is over, each until it is answered.</summary>
    /// <param name="next">Counts the calls, and gives the number of the next.</param>
    public static async Task Load(Cluster cluster, Func<int> next, CancellationToken over)
    {
        await using ImmortalClient client = await cluster.ConnectAsync("account");
        ClientProxy<IAccount> account = client.GetProxy<IAccount>();
        while (!over.IsCancellationRequested) await account.WithKey($"d{next()}").DepositAsync(100).WaitAsync(Cluster.Patience);
    }

    /// <summary>A replica that upgrades rehearses and takes over by itself while callers call, and the books are right behind it.</summary>
    /// <param name="made">So many deposits were made before.</param>
    public static async Task AssertTakesOverUnderLoad(Cluster cluster, Replica next, int made)
    {
        using var over = new CancellationTokenSource();
        Task load = Accounts.Load(cluster, () => made++, over.Token);
        next.Start().AwaitReady();
        next.AwaitLine("the rehearsal", static line => line.StartsWith("rehearsed at ", StringComparison.Ordinal));
        int before = made;
        Cluster.Await("calls behind the switch", () => Volatile.Read(ref made) > before + 50);
        over.Cancel();
        await load;
        Assert.StartsWith("2:", await Accounts.Deposit(cluster, 1), StringComparison.Ordinal);
        await Accounts.AssertBooks(cluster, made + 1);
    }

    /// <summary>
    /// The balance has every deposit once, and the ledger has a call for each and one for the upgrade, in their order.
    /// </summary>
    public static async Task AssertBooks(Cluster cluster, int deposits)
    {
        string[] report = (await Ask(cluster, static account => account.ReportAsync())).Split(' ');
        ulong calls = (ulong)deposits + 1;
        Assert.Equal(["2", $"{deposits * 100}", $"{deposits * 100}", $"{calls}"], report[..4]);
        await using ImmortalClient client = await cluster.ConnectAsync("ledger");
        ClientProxy<ILedger> ledger = client.GetProxy<ILedger>();
        ulong hash = 0;
        for (ulong number = 1; number <= calls; number++) hash = OrderHash.Mix(hash, number, default);
        string expected = $"{calls} {hash:x16} ";
        Cluster.Await($"the ledger says {expected}",
            () => ledger.SummaryAsync().GetAwaiter().GetResult().StartsWith(expected, StringComparison.Ordinal));
    }
}
