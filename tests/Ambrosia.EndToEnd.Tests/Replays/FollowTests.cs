using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A build is judged by what comes in while it runs, until somebody ends it.</summary>
public sealed class FollowTests
{
    /// <summary>The code of a process that was ended by SIGINT.</summary>
    private const int SigIntCode = 130;

    [Fact]
    public async Task Follow_OfALiveLog_ComparesWhatComesInUntilItIsInterrupted()
    {
        using var cluster = new Cluster();
        cluster.Add("ledger", "ledger").Start();
        Replica shop = cluster.Add("shop", "shop").Start();
        shop.AwaitReady();
        await using ImmortalClient client = await cluster.ConnectAsync("shop");
        ClientProxy<IShop> proxy = client.GetProxy<IShop>();
        int orders = 0;
        void Sell(int more)
        {
            for (; more > 0; more--, orders++) proxy.OrderAsync("axe", 1).GetAwaiter().GetResult();
        }

        Sell(10);
        int batch = 20;
        Cluster.Await("a replay that has compared what came in while it ran", () =>
        {
            int before = orders, more = batch *= 2; // the build needs its time to start, and nobody sees from outside when it has
            Tool tool = Tool.Of(Executables.Ambrosia,
                ["replay", shop.LogDirectory, "--app", $"{Executables.App} shop", "--catalog", cluster.Catalog, "--follow", "--json"],
                process =>
                {
                    Sell(more);
                    Signals.Interrupt(process);
                });
            // It was interrupted before it had begun to compare, or even before it heeded the signal.
            if (tool.Code == 3 || (tool.Code == SigIntCode && tool.Output.Length == 0)) return false;
            Assert.True(tool.Code == 0, $"{tool.Code}: {tool.Output}{tool.Error}");
            // Each order is noted once, and each second one twice. Most of those count that came when what was there had been read.
            return tool.Json.GetProperty("callsCompared").GetInt64() > before + before / 2 + more / 2;
        });
        cluster.Passed();
    }
}
