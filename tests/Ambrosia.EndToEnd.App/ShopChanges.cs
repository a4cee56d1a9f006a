using System.Text;

namespace Ambrosia.EndToEnd.App;

/// <summary>Places in an order where a change may be planted that has no code of its own there.</summary>
internal enum PlantedAt { State, Calls, Note, Restock, RestockCount, Delay, DelayTime, Task, Answer }

/// <summary>The planted changes of the shop, each small as those that slip through a review, and what is the same in other words.</summary>
public sealed partial class Shop
{
    /// <summary>So many changes there are; their numbers begin with 1.</summary>
    public const int Changes = 40;

    /// <summary>One that no order shows: nobody waits for a restocking, so one that throws stops the shop.</summary>
    public const int FullStock = 41;

    /// <summary>So many ways there are to say the same; their numbers begin with 1.</summary>
    public const int Rewritings = 20;

    private bool Skips(PlantedAt place) => IsChanged && (Settings.Change, place) is
        (1, PlantedAt.Note) or (2, PlantedAt.Restock) or (3, PlantedAt.Delay) or (4, PlantedAt.Task);

    private int Changed(PlantedAt place, int value) => value + (IsChanged && (Settings.Change, place) is
        (5, PlantedAt.RestockCount) or (6, PlantedAt.DelayTime) or (7, PlantedAt.Answer) ? 1 : 0);

    private void Change(PlantedAt place, string item, ref long price)
    {
        if (!IsChanged) return;
        if (place == PlantedAt.State) ChangeState(item, ref price);
        else if (place == PlantedAt.Calls) ChangeCalls(item);
    }

    private void ChangeState(string item, ref long price)
    {
        switch (Settings.Change)
        {
            case 8: price *= 2; break;
            case 9: price++; break;
            case 10: _takings++; break;
            case 11: _takings -= 1_000_000; break;
            case 12: _orders++; break;
            case 13: Of(item).Count++; break;
            case 14: Of(item).Count = 0; break;
            case 15: Of(item).Hint = "sold"; break;
            case 16: _stock["extra"] = new Stock(); break;
            case 17: _stock.Remove(item); break;
            case 18: _stock["alias"] = Of(item); break;
            case 19: _journal.Add(item); break;
            case 20: _journal.Insert(0, "first"); break;
            case 21: _journal.Clear(); _journal.Add("cleared"); break;
            case 22: _byLength[0]++; break;
            case 23: _byLength[^1] = -1; break;
            case 24: _first = item + "!"; break;
            case 25: _isOpen = !_isOpen; break;
            case 26: _restocks--; break;
            case 27: Random.Next(2); break;
            case 28: NewGuid(); break;
        }
    }

    private void ChangeCalls(string item)
    {
        byte[] name = Encoding.UTF8.GetBytes(item);
        switch (Settings.Change)
        {
            case 29: _ledger.PutFork(1, name); break;
            case 30: _ledger.PutFork(1, default); break;
            case 31: _ledger.NextFork(); break;
            case 32: _ledger.SummaryFork(); break;
            case 33: thisProxy.RestockFork(item, 1); break;
            case 34: thisProxy.LeftFork(item); break;
            case 35: thisProxy.OrderFork(item, 1); break;
            case 36: for (int i = 0; i < 100; i++) _ledger.PutFork((ulong)i, name); break;
            case 37: Another().NextFork(); break;
            case 38: _ = Delay(TimeSpan.FromHours(1)); break;
            case 39: _ = NondetTask(static () => 2); break;
            case 40: throw new InvalidOperationException($"no {item} today");
        }
    }

    /// <summary>Does what <see cref="Order"/> does.</summary>
    private async Call<long> Rewritten(string item, int count)
    {
        int way = Settings.Rewrite;
        long unit = way == 1 ? Price(item) : way == 2 ? 10L * item.Length : item.Sum(static _ => 10L);
        long sum = 0;
        if (way is 3 or 4) for (int i = 0; i < count; i++) sum += unit;
        else sum = unit * count;
        if (way == 5) TakeInOtherOrder(item, count);
        else Take(item, count);
        string text = way switch
        {
            6 => string.Concat(item, " ", count),
            7 => string.Join(' ', item, count),
            8 => new StringBuilder(item).Append(' ').Append(count).ToString(),
            _ => $"{item} {count}",
        };
        if (way is 9 or 10) NoteInOneGo(text, sum);
        else Note(text, sum);
        bool isThird = way == 11 ? _orders - _orders / 3 * 3 == 0 : _orders % 3 == 0;
        if (isThird) (way == 12 ? Own() : thisProxy).RestockFork(item, way == 13 ? 1 + 1 : 2);
        if (_orders % 4 == 0) sum = way == 14 ? await Asked(sum) : sum + (long)(await _ledger.NextAsync() & 1);
        if (_orders % 5 == 0) await Delay(way == 15 ? TimeSpan.FromTicks(30_000) : TimeSpan.FromMilliseconds(3));
        if (_orders % 7 == 0)
        {
            int decided = way == 16 ? await NondetTask(Decide) : await NondetTask(static () => 1);
            sum += decided;
        }
        if (way == 17) Interlocked.Add(ref _takings, sum);
        else _takings += sum;
        if (way == 18) _ = _stock.Values.Sum(static each => each.Count);
        if (way == 19) _ = Encoding.UTF8.GetByteCount(text);
        return way == 20 ? new[] { sum }.Single() : sum;
    }

    private static int Decide() => 1;

    private IShopProxy Own() => thisProxy;

    private ILedgerProxy Another() => GetProxy<ILedger>("another");

    private async Call<long> Asked(long sum)
    {
        ulong answer = await _ledger.NextAsync();
        return sum + (long)answer % 2;
    }

    private void TakeInOtherOrder(string item, int count)
    {
        if (_orders % 10 == 0) _journal.Add($"{_orders} {item}");
        (_isBusy, _last) = (count > 2 && _isOpen, item);
        if (_first is null) _first = item;
        _byLength[item.Length & 7] += 1;
        Of(item).Count = Of(item).Count - count;
    }

    private void NoteInOneGo(string text, long price)
    {
        var notes = new List<(ulong, string)> { ((ulong)price, text) };
        if (_orders % 2 == 0) notes.Add(((ulong)_orders, _last));
        foreach ((ulong number, string note) in notes) _ledger.PutFork(number, Encoding.UTF8.GetBytes(note));
    }
}
