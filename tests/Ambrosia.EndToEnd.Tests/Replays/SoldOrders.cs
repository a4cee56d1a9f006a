using Ambrosia.Client;
using Ambrosia.EndToEnd.App;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The log of a shop that was killed in the middle of its life, with that of the ledger which it calls.</summary>
public sealed class SoldOrders : IAsyncLifetime
{
    /// <summary>So many orders stand in the log.</summary>
    internal const int Count = 60;

    private static readonly string[] s_items = ["axe", "bolt", "chain", "drill"];

    private readonly Cluster _cluster = new();
    private readonly Chance _chance = new();

    internal Replica Shop { get; private set; } = null!;

    internal string Catalog => _cluster.Catalog;

    public async Task InitializeAsync()
    {
        Replica ledger = _cluster.Add("ledger", "ledger").Start();
        Shop = _cluster.Add("shop", "shop").Start();
        Shop.AwaitReady();
        await using ImmortalClient client = await ImmortalClient.ConnectAsync(
            Catalog, "shop", new ClientOptions { ConnectWithin = Cluster.Patience });
        ClientProxy<IShop> shop = client.GetProxy<IShop>();
        for (int i = 0; i < Count; i++) await shop.OrderAsync(s_items[_chance.Below(s_items.Length)], 1 + _chance.Below(5));
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
