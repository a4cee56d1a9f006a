using Ambrosia;

namespace WebBank;

/// <summary>Knows what our money is worth elsewhere.</summary>
public interface IExchange
{
    /// <returns>What one unit of our money is worth, in thousandths.</returns>
    long Rate(string currency);

    void Sold(string currency, long amount);

    Call AskMarket();

    /// <summary>How much of a currency was sold, in hundredths.</summary>
    long TotalSold(string currency);
}
