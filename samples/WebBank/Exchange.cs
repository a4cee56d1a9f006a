using Ambrosia;

namespace WebBank;

/// <summary>The exchange asks the market now and then, and sells at the last rate that it was told.</summary>
public sealed partial class Exchange : Immortal<IExchange>, IExchange
{
    private readonly SortedDictionary<string, long> _rates = new(StringComparer.Ordinal), _sold = new(StringComparer.Ordinal);

    protected override void OnFirstStart()
    {
        Every(TimeSpan.FromSeconds(10), AskMarket); // for as long as the instance lives
        thisProxy.AskMarketFork();
    }

    public async Call AskMarket()
    {
        // The market never gives the same answer twice. The answer in the log counts, for ever and on every replica.
        foreach ((string currency, long rate) in await NondetTask(Market.AskAsync)) _rates[currency] = rate;
    }

    public long Rate(string currency) =>
        _rates.TryGetValue(currency, out long rate) ? rate : throw new ArgumentException($"there is no rate for {currency}");

    public void Sold(string currency, long amount) => _sold[currency] = _sold.GetValueOrDefault(currency) + amount;

    public long TotalSold(string currency) => _sold.GetValueOrDefault(currency);
}
