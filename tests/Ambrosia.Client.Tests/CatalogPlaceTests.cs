namespace Ambrosia.Client.Tests;

/// <summary>A catalog's place that is none, or that this program cannot open, is the caller's mistake, and is said at once.</summary>
public sealed class CatalogPlaceTests
{
    [Theory]
    [InlineData("etcd://host/x", "has no port")]
    [InlineData("zookeeper://host:1/x", "no kind of catalog")]
    [InlineData("etcd://ann:word@host:1/x", "AMBROSIA_CATALOG_PASSWORD_FILE")]
    [InlineData("azure-tables://account/names", "no store for 'azure-tables'")]
    public async Task ConnectAsync_ToACatalogThatIsNone_ThrowsAtOnce(string place, string said)
    {
        ArgumentException refused = await Assert.ThrowsAsync<ArgumentException>(() => ImmortalClient.ConnectAsync(place, "bank"));
        Assert.Contains(said, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task ConnectAsync_WithoutAStore_SaysWhyWhenTheTimeIsOver()
    {
        var options = new ClientOptions { ConnectWithin = TimeSpan.FromSeconds(0.1) };
        TimeoutException late =
            await Assert.ThrowsAsync<TimeoutException>(() => ImmortalClient.ConnectAsync("etcd://127.0.0.1:1/x", "bank", options));
        Assert.Contains("bank could not be reached", late.Message, StringComparison.Ordinal);
    }
}
