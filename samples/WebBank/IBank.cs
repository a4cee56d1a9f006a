using Ambrosia;

namespace WebBank;

/// <summary>What the bank does, for callers inside and outside alike.</summary>
public interface IBank
{
    /// <returns>The new balance, in cents.</returns>
    long Deposit(string account, long cents);

    /// <returns>The new balance of the account that paid, in cents.</returns>
    long Transfer(string from, string to, long cents);

    long Balance(string account);

    /// <summary>Somebody looked at an account: worth counting, not worth waiting for.</summary>
    [ImpulseHandler]
    void Seen(string account);

    long Views(string account);
}
