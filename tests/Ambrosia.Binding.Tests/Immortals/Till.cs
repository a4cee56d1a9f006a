namespace Ambrosia.Binding.Tests;

public interface IQuotes
{
    [MethodId(1)]
    long Price(string item);
}

public interface ITill
{
    [MethodId(1)]
    Call<long> Sell(string item);

    [MethodId(2)]
    Call<long> Changed(string item);

    [MethodId(3)]
    Call<long> Mine(string item);

    [MethodId(4)]
    Call<long> Nested(string item);

    [MethodId(5)]
    Call<long> Lambda(string item);
}

public sealed class Goods
{
    internal long Pieces = 10;
}

/// <summary>An immortal, and below its next version, which was made of it: the same methods but for one.</summary>
public sealed partial class TillV1 : Immortal<ITillProxy>, ITill
{
    internal readonly SortedDictionary<string, Goods> _goods = new(StringComparer.Ordinal) { ["tea"] = new() };
    internal long _factor = 3;

    public async Call<long> Sell(string item)
    {
        Goods at = _goods[item];
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        long price = await quotes.PriceAsync(item);
        at.Pieces--;
        long again = await quotes.PriceAsync(item);
        return (price + again) * _factor;
    }

    public async Call<long> Changed(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return 1 + await quotes.PriceAsync(item);
    }

    public async Call<long> Mine(string item)
    {
        TillV1 me = this;
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return await quotes.PriceAsync(item) * me._factor;
    }

    public async Call<long> Nested(string item)
    {
        var note = new Note { Text = item };
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return await quotes.PriceAsync(item) + note.Text.Length;
    }

    public async Call<long> Lambda(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        Func<long, long> scaled = price => price * _factor + item.Length, own = price => price * _factor, plain = static price => price + 1;
        Func<string, long> counted = Count;
        long got = await quotes.PriceAsync(item);
        return scaled(got) + own(got) + plain(got) + counted(item);
    }

    private long Count(string item) => _goods[item].Pieces;

    private sealed class Note
    {
        internal string Text = "";
    }
}

[AppVersion(2)]
public sealed partial class TillV2 : Immortal<ITillProxy>, ITill
{
    internal readonly SortedDictionary<string, Goods> _goods;
    internal long _factor, _added;

    public TillV2() => _goods = new(StringComparer.Ordinal);

    internal TillV2(TillV1 old)
    {
        _goods = old._goods;
        _factor = old._factor + 1;
        _added = 7;
    }

    private static string Unrelated(long of) => ((Func<long, string>)(static x => x.ToString()))(of);

    public async Call<long> Sell(string item)
    {
        Goods at = _goods[item];
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        long price = await quotes.PriceAsync(item);
        at.Pieces--;
        long again = await quotes.PriceAsync(item);
        return (price + again) * _factor;
    }

    public async Call<long> Changed(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return 2 + await quotes.PriceAsync(item) + Unrelated(_added).Length;
    }

    public async Call<long> Mine(string item)
    {
        TillV2 me = this;
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return await quotes.PriceAsync(item) * me._factor;
    }

    public async Call<long> Nested(string item)
    {
        var note = new Note { Text = item };
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return await quotes.PriceAsync(item) + note.Text.Length;
    }

    public async Call<long> Lambda(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        Func<long, long> scaled = price => price * _factor + item.Length, own = price => price * _factor, plain = static price => price + 1;
        Func<string, long> counted = Count;
        long got = await quotes.PriceAsync(item);
        return scaled(got) + own(got) + plain(got) + counted(item);
    }

    private long Count(string item) => _goods[item].Pieces;

    private sealed class Note
    {
        internal string Text = "";
    }
}
