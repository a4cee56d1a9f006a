namespace Ambrosia.Binding.Tests;

/// <summary>A next version of <see cref="TillV1"/> that keeps the body of the method which it changes, under another name.</summary>
[AppVersion(2)]
public sealed partial class KeepingTill : Immortal<ITillProxy>, ITill
{
    internal long _factor;

    public KeepingTill()
    {
    }

    internal KeepingTill(TillV1 old) => _factor = old._factor;

    public async Call<long> Sell(string item) => await Changed(item);

    public async Call<long> Changed(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return 1000 + await quotes.PriceAsync(item);
    }

    [Formerly(nameof(Changed))]
    private async Call<long> ChangedOfVersion1(string item)
    {
        IQuotesProxy quotes = GetProxy<IQuotes>("bank3");
        return 1 + await quotes.PriceAsync(item);
    }

    public async Call<long> Mine(string item) => await Changed(item);

    public async Call<long> Nested(string item) => await Changed(item);

    public async Call<long> Lambda(string item) => await Changed(item);
}
