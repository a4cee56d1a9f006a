using System.Collections;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region generic data
[Data]
public sealed record Page<T>(IReadOnlyList<T> Items, int Total);

[Data]
public sealed record Sale(string Article, int Pieces);

public interface ILedger
{
    Call<Page<Sale>> Find(string article, Page<int>? after = null);
}
#endregion

public sealed partial class Ledger : Immortal<ILedger>, ILedger
{
    internal Page<Sale>? Found { get; private set; }

    public async Call<Page<Sale>> Find(string article, Page<int>? after)
    {
        if (after is null) return new Page<Sale>([new Sale(article, 3)], 1);
        Found = await GetProxy<ILedger>("bank3").FindAsync(article, after with { Total = after.Total + 1 });
        return Found with { Total = Found.Total + 1 };
    }
}

public sealed class GenericDataExamples
{
    private static readonly uint s_find = MethodIds.Of("ILedger", "Find");
    private readonly FakeCoordinator _coordinator = Started<Ledger>();

    private string Last => _coordinator.Said.Last(static line => !line.StartsWith("processed", StringComparison.Ordinal));

    private static Hashtable Page(int total, params object[] items) => new() { ["Items"] = items, ["Total"] = total };

    private static Hashtable Sale(string article, int pieces) => new() { ["Article"] = article, ["Pieces"] = pieces };

    [Fact]
    public void Uses_OfOneGenericType_TravelEachAsItIs()
    {
        _coordinator.Deliver(Call(s_find, 7, "tea", null!));
        Assert.Equal($"result bank2 {s_find} #7 {Cbor.Text(Cbor.Of(Page(1, Sale("tea", 3))))}", Last);

        _coordinator.Deliver(Call(s_find, 8, "tea", Page(4, 1, 2)));
        Assert.Equal($"call bank3 {s_find} #1 {Cbor.Text(Cbor.Of("tea", Page(5, 1, 2)))}", Last);
        _coordinator.Deliver(Result(s_find, 1, 2, Page(1, Sale("milk", 9))));
        Assert.Equal(new Sale("milk", 9), Assert.Single(_coordinator.Immortal<Ledger>().Found!.Items));
        Assert.Equal($"result bank2 {s_find} #8 {Cbor.Text(Cbor.Of(Page(2, Sale("milk", 9))))}", Last);
    }

    [Fact]
    public void Argument_WhoseItemsAreOfAnotherType_IsRefused()
    {
        _coordinator.Deliver(Call(s_find, 7, "tea", Page(4, "one")));
        Assert.Contains("'Ambrosia.BadArguments'", Last, StringComparison.Ordinal);
    }
}
