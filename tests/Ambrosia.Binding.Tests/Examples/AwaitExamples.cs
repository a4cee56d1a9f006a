using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples.Awaits;

public interface IShop
{
    [MethodId(1)]
    Call<string> Cheapest(List<string> sellers);

    [MethodId(2)]
    Call<long> PriceInTime(string seller);

    [MethodId(3)]
    Call<long> PriceUnlessStopped(string seller);

    [MethodId(4)]
    void StopAsking();

    [MethodId(5)]
    Call<long> Stock(string item);
}

public interface ISeller
{
    [MethodId(1)]
    long Price();
}

public sealed partial class Shop : Immortal<IShop>, IShop
{
    #region WhenAny and loops
    public async Call<string> Cheapest(List<string> sellers)
    {
        var asked = sellers.ConvertAll(name => (Name: name, Price: GetProxy<ISeller>(name).PriceAsync()));
        string best = "";
        long bestPrice = long.MaxValue;
        while (asked.Count > 0)
        {
            Call<long> first = await Call.WhenAny(asked.Select(each => each.Price)); // the first in the log
            int place = asked.FindIndex(each => each.Price == first);
            long price = await first;
            if (price < bestPrice) (best, bestPrice) = (asked[place].Name, price);
            asked.RemoveAt(place);
        }
        return best;
    }
    #endregion

    #region deadlines
    public async Call<long> PriceInTime(string seller)
    {
        ISellerProxy proxy = GetProxy<ISeller>(seller);
        try
        {
            return await proxy.PriceAsync().Within(TimeSpan.FromSeconds(5)); // by the time of the log
        }
        catch (TimeoutException)
        {
            return -1;
        }
    }
    #endregion

    #region cancellation
    private CallCancellation _asking = new(); // state like any other

    public async Call<long> PriceUnlessStopped(string seller)
    {
        ISellerProxy proxy = GetProxy<ISeller>(seller);
        return await proxy.PriceAsync().CancelledBy(_asking);
    }

    public void StopAsking()
    {
        _asking.Cancel();
        _asking = new CallCancellation();
    }
    #endregion

    #region aliases
    private readonly SortedDictionary<string, Shelf> _shelves = new(StringComparer.Ordinal) { ["tea"] = new() { Pieces = 3 } };

    public async Call<long> Stock(string item)
    {
        Shelf shelf = _shelves[item]; // still the same object after a restart in the middle of the await
        ISellerProxy seller = GetProxy<ISeller>("bank2");
        shelf.Pieces += await seller.PriceAsync();
        return _shelves[item].Pieces;
    }

    public sealed class Shelf
    {
        public long Pieces { get; set; }
    }
    #endregion
}

public sealed class AwaitExamples
{
    [Fact]
    public void WhenAny_FollowsTheLog()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.Deliver(Call(1, 7, (object)new[] { "bank2", "bank3" }), Result(1, 2, 2, 5), Result(1, 1, 1, 4));

        Assert.Contains("result bank2 1 #7 'bank2'", shop.Said);
    }

    [Fact]
    public void Deadline_WithoutAnAnswer_Ends()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.DeliverWith(0, 1_000_000, Call(2, 7, "bank3"));
        Assert.Contains("timer 1 due 6000000", shop.Said);
        shop.DeliverWith(0, 6_000_001, Fired(1, 6_000_000), Result(1, 1, 2, 9));

        Assert.Contains("result bank2 2 #7 -1", shop.Said);
    }

    [Fact]
    public void Deadline_WithAnAnswer_DropsItsTimer()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.DeliverWith(0, 1_000_000, Call(2, 7, "bank3"), Result(1, 1, 2, 9));

        Assert.Contains("result bank2 2 #7 9", shop.Said);
        Assert.Contains("timer 1 dropped", shop.Said);
        shop.Deliver(Mark());
        Assert.Contains($"image at {shop.Next}", shop.Said);
    }

    [Fact]
    public void Cancellation_EndsWhoWaits_AlsoInARestoredShop()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.Deliver(Call(3, 7, "bank3"), Call(3, 8, "bank2"), Mark(bound: 1));
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Shop>());
        restored.Welcome(shop.Image, shop.Next.Value);
        restored.Deliver(Result(1, 2, 1, 5), Fork(4), Result(1, 1, 2, 6));

        Assert.Contains("result bank2 3 #8 5", restored.Said);
        Assert.Contains(restored.Said,
            static line => line.StartsWith("failure bank2 3 #7", StringComparison.Ordinal)
                && line.Contains("Ambrosia.Cancelled", StringComparison.Ordinal));
        Assert.Equal(0, restored.Session.DroppedResults);
    }

    [Fact]
    public void Local_ThatIsState_IsTheSameObjectAfterARestore()
    {
        FakeCoordinator shop = Started<Shop>();
        shop.Deliver(Call(5, 7, "tea"), Mark(bound: 1));
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Shop>());
        restored.Welcome(shop.Image, shop.Next.Value);
        restored.Deliver(Result(1, 1, 1, 4));

        Assert.Contains("result bank2 5 #7 7", restored.Said);
    }
}
