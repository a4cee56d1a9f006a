using Ambrosia;

namespace WebBank;

/// <summary>The contract of the exchange, which knows what our currency is worth elsewhere.</summary>
public interface IExchange
{
    /// <returns>What one unit of our currency is worth, in thousandths.</returns>
    long Rate(string currency);

    void Sold(string currency, long amount);

    Call AskMarket();

    /// <summary>Returns how much of a currency was sold, in hundredths.</summary>
    long TotalSold(string currency);
}
