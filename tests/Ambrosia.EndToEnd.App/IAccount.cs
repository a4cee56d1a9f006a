namespace Ambrosia.EndToEnd.App;

/// <summary>Keeps a balance: what callers ask is answered by the version that is in force.</summary>
public interface IAccount
{
    /// <summary>Adds to the balance, notes it in the ledger, and answers the version and the balance in cents.</summary>
    string Deposit(long cents);

    /// <summary>The same, with a timer and a task on the way.</summary>
    Call<string> DepositLater(long cents);

    /// <summary>Says the version, the balance, the deposits, how often the upkeep ran, and what an upgrade has done.</summary>
    string Report();

    void Noted(ulong number);
}
