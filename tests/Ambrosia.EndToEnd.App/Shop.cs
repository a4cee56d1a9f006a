using System.Text;

namespace Ambrosia.EndToEnd.App;

/// <summary>Sells things: each order is answered, noted in a ledger, and may ask it, wait, or let a task decide.</summary>
public interface IShop
{
    /// <summary>Answers what the order costs.</summary>
    Call<long> Order(string item, int count);

    void Restock(string item, int count);

    /// <summary>Says what is left of an item.</summary>
    int Left(string item);
}

/// <summary>
/// What each order does depends on its number, so that a log of a few hundred has everything in it. A build of other code is this one with
/// CHANGE, the number of a planted change, which takes effect at the order of number CHANGE_AT; <see cref="Rewrite"/> does the same in
/// other words.
/// </summary>
public sealed partial class Shop : Immortal<IShopProxy>, IShop
{
    private readonly Dictionary<string, Stock> _stock = [];
    private readonly List<string> _journal = [];
    private readonly int[] _byLength = new int[8];
    private readonly ILedgerProxy _ledger;
    private long _orders, _takings, _restocks;
    private string _last = "none";
    private string? _first;
    private bool _isBusy, _isOpen = true;

    public Shop() => _ledger = GetProxy<ILedger>(Settings.Peer);

    private bool IsChanged => Settings.Change != 0 && _orders == Settings.ChangeAt;

    public async Call<long> Order(string item, int count)
    {
        _orders++;
        if (Settings.Rewrite != 0) return await Rewritten(item, count);
        long price = Price(item) * count;
        Take(item, count);
        Change(PlantedAt.State, item, ref price);
        if (!Skips(PlantedAt.Note)) Note($"{item} {count}", price);
        Change(PlantedAt.Calls, item, ref price);
        if (_orders % 3 == 0 && !Skips(PlantedAt.Restock)) thisProxy.RestockFork(item, Changed(PlantedAt.RestockCount, 2));
        if (_orders % 4 == 0) price += (long)await _ledger.NextAsync() % 2;
        if (_orders % 5 == 0 && !Skips(PlantedAt.Delay)) await Delay(TimeSpan.FromMilliseconds(Changed(PlantedAt.DelayTime, 3)));
        if (_orders % 7 == 0 && !Skips(PlantedAt.Task)) price += await NondetTask(static () => 1);
        _takings += price;
        return price + Changed(PlantedAt.Answer, 0);
    }

    public void Restock(string item, int count)
    {
        Of(item).Count += count;
        _restocks++;
        if (Settings.Change == FullStock && _restocks == Settings.ChangeAt) throw new InvalidOperationException($"no room for {item}");
    }

    public int Left(string item) => Of(item).Count;

    private void Take(string item, int count)
    {
        Of(item).Count -= count;
        _byLength[item.Length % _byLength.Length]++;
        _last = item;
        _first ??= item;
        _isBusy = _isOpen && count > 2;
        if (_orders % 10 == 0) _journal.Add($"{_orders} {item}");
    }

    private static long Price(string item) => item.Length * 10;

    private void Note(string text, long price)
    {
        _ledger.PutFork((ulong)price, Encoding.UTF8.GetBytes(text));
        if (_orders % 2 == 0) _ledger.PutFork((ulong)_orders, Encoding.UTF8.GetBytes(_last));
    }

    private Stock Of(string item)
    {
        if (!_stock.TryGetValue(item, out Stock? stock)) _stock[item] = stock = new Stock();
        return stock;
    }

    private sealed class Stock
    {
        public int Count = 100;
        public string? Hint;
    }
}
