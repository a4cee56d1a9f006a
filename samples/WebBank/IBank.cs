using Ambrosia;

namespace WebBank;

/// <summary>The contract of the bank, for callers inside and outside alike. Amounts are in cents.</summary>
[Throws(typeof(NotEnoughException))]
public interface IBank
{
    /// <returns>The new balance.</returns>
    long Deposit(string account, long cents);

    /// <summary>Deposits at the counter, where a slip is handed in and nobody waits for an answer.</summary>
    [ImpulseHandler]
    void HandIn(string account, long cents);

    /// <returns>The new balance of the account that paid.</returns>
    long Transfer(string from, string to, long cents);

    /// <summary>Pays somebody elsewhere in their currency. The money is back if that fails.</summary>
    Call<Receipt> Remit(string from, string to, long cents, string currency);

    /// <summary>Transfers when so much time has passed.</summary>
    [ImpulseHandler]
    Call TransferLater(string from, string to, long cents, long seconds);

    /// <summary>Calls off every transfer that waits for its time.</summary>
    /// <returns>How many there were.</returns>
    int CallOff(string from);

    /// <summary>Returns what one unit of our currency is worth elsewhere, in thousandths, in the order of the currencies.</summary>
    Call<long[]> Rates(string[] currencies);

    /// <summary>Returns how much of a currency the exchange has sold, in hundredths.</summary>
    Call<long> Sold(string currency);

    /// <summary>Counts that somebody has looked at an account. That is not worth waiting for.</summary>
    [ImpulseHandler]
    void Seen(string account);

    /// <summary>Returns the state of an account. A query leaves no trace in the log.</summary>
    [Query]
    Statement Look(string account);
}
