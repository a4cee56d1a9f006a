namespace Ambrosia.Binding.Tests.Examples;

public interface ISupplier
{
    Call<long> Price(string article);
}

public interface IWarehouse
{
    Call<long> Order(string article, int pieces);

    long Stock(string article);
}

public sealed partial class Warehouse : Immortal<IWarehouse>, IWarehouse
{
    private readonly SortedDictionary<string, long> _stock = new(StringComparer.Ordinal);
    private readonly ISupplierProxy _supplier;

    public Warehouse() => _supplier = GetProxy<ISupplier>("supplier");

    public async Call<long> Order(string article, int pieces)
    {
        long cents = await _supplier.PriceAsync(article).Within(TimeSpan.FromMinutes(1));
        string confirmation = await NondetTask(() => File.ReadAllText($"/orders/{article}"));
        Logger.Information($"{article} is ordered: {confirmation}");
        _stock[article] = Stock(article) + pieces;
        return cents * pieces;
    }

    public long Stock(string article) => _stock.GetValueOrDefault(article);
}

/// <summary>The unit tests of docs/programming-model.md.</summary>
public sealed class UnitTestExamples
{
    #region unit tests
    [Fact]
    public async Task Order_OfFivePieces_CostsFiveTimesThePrice()
    {
        var warehouse = new Warehouse();
        TestSession outside = TestSession.Of(warehouse);

        Call<long> order = warehouse.Order("tea", 5); // runs to its first await
        RecordedCall price = Assert.Single(outside.Calls);
        Assert.Equal(("supplier", "Price", "tea"), (price.To, price.Method, price.Arguments[0]));
        price.Answer(120L); // and goes on to the next
        Assert.Single(outside.Tasks).Answer("no. 7");

        Assert.Equal(600, await order);
        Assert.Equal(5, warehouse.Stock("tea"));
    }

    [Fact]
    public async Task Order_WithoutAPriceInTime_Fails()
    {
        var outside = new TestSession { Begin = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero), Seed = 7 };
        Warehouse warehouse = outside.Make(() => new Warehouse()); // and its OnFirstStart

        Call<long> order = warehouse.Order("tea", 5);
        outside.Advance(TimeSpan.FromMinutes(1));

        await Assert.ThrowsAsync<TimeoutException>(async () => await order);
        Assert.Equal(0, warehouse.Stock("tea"));
    }
    #endregion
}
