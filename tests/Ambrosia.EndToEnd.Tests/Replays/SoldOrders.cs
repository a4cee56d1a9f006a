using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The log of a shop that was killed in the middle of its life, with that of the ledger which it calls.</summary>
public sealed class SoldOrders : IAsyncLifetime
{
    /// <summary>So many orders stand in the log. The last one makes one call to the ledger, which is the last of all.</summary>
    internal const int Count = 61;

    /// <summary>A checkpoint is taken behind this one, counted from 0.</summary>
    private const int CheckpointAt = 20;

    /// <summary>Each order is noted once, and each second one twice.</summary>
    private const int Notes = Count + Count / 2;

    private static readonly string[] s_items = ["axe", "bolt", "chain", "drill"];

    private readonly Cluster _cluster = new();
    private readonly Chance _chance = new();

    internal Replica Shop { get; private set; } = null!;

    internal string Catalog => _cluster.Catalog;

    public async Task InitializeAsync()
    {
        Replica ledger = _cluster.Add("ledger", "ledger").Start();
        Shop = _cluster.Add("shop", "shop");
        Shop.Options.AddRange(["--fork-policy", "stop"]);
        Shop.Start();
        Shop.AwaitReady();
        await using ImmortalClient client = await _cluster.ConnectAsync("shop");
        ClientProxy<IShop> shop = client.GetProxy<IShop>();
        for (int i = 0; i < Count; i++)
        {
            // Neighbours differ: where two make the same call, one that is left out shows only at the message behind.
            await shop.OrderAsync(s_items[_chance.Below(s_items.Length)], 1 + i % 5);
            if (i == CheckpointAt) Assert.Equal(0, Tool.Run("checkpoint", Shop.LogDirectory).Code);
        }
        // What stands in the log behind the last order, and behind its call in the ledger's, states both as durable.
        await using ImmortalClient other = await _cluster.ConnectAsync("ledger");
        ClientProxy<ILedger> books = other.GetProxy<ILedger>();
        Cluster.Await("the last note", () => books.SummaryAsync().GetAwaiter().GetResult().StartsWith($"{Notes} ", StringComparison.Ordinal));
        for (int i = 0; i < 2; i++)
        {
            await shop.LeftAsync(s_items[0]);
            await books.SummaryAsync();
        }
        Shop.KillCoordinator();
        ledger.KillCoordinator();
    }

    public Task DisposeAsync()
    {
        _cluster.Passed();
        _cluster.Dispose();
        return Task.CompletedTask;
    }
}
