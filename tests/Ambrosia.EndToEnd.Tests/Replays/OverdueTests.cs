using System.Text.Json;
using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A call that a build leaves out, and behind which no other goes to its receiver: nothing differs but that it is missing. The receiver's
/// log is read beside the execution, and holds the call far behind where the own log has its cause.
/// </summary>
public sealed class OverdueTests
{
    private const int FillingBytes = 60_000;

    [Fact]
    public async Task Call_LeftOutLongBefore_IsNamedAtItsMessage()
    {
        using var cluster = new Cluster();
        cluster.Add("ledger", "ledger").Start();
        Replica shop = cluster.Add("shop", "shop").Start();
        shop.AwaitReady();
        await using ImmortalClient books = await cluster.ConnectAsync("ledger"), client = await cluster.ConnectAsync("shop");
        ClientProxy<IShop> orders = client.GetProxy<IShop>();
        for (int i = 0; i < 40; i++) await books.GetProxy<ILedger>().PutAsync((ulong)i, new byte[FillingBytes]);
        await orders.OrderAsync("axe", 1);
        for (int i = 0; i < 80; i++) await orders.LeftAsync(new string('x', FillingBytes));
        await books.GetProxy<ILedger>().SummaryAsync(); // states that what came before it is durable
        shop.KillCoordinator();

        Tool tool = Tool.Run("replay", shop.LogDirectory, "--app", $"env CHANGE=1 CHANGE_AT=1 {Executables.App} shop",
            "--catalog", cluster.Catalog, "--json");

        Assert.True(tool.Code == 1, $"{tool.Code}: {tool.Output}{tool.Error}");
        JsonElement found = Assert.Single(tool.Json.GetProperty("differences").EnumerateArray());
        Assert.Equal("nothing", found.GetProperty("now").GetString());
        Assert.Contains("ILedger.Put(", found.GetProperty("then").GetString(), StringComparison.Ordinal);
        Assert.Contains("IShop.Order(", found.GetProperty("message").GetString(), StringComparison.Ordinal);
        cluster.Passed();
    }
}
