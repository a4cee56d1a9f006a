using Ambrosia;

namespace WebBank;

/// <summary>An ordinary class with two dictionaries, which nothing that happens to its process can make forget or count twice.</summary>
public sealed partial class Bank : Immortal<IBankProxy>, IBank
{
    private readonly Dictionary<string, long> balances = [];
    private readonly Dictionary<string, long> views = [];

    public long Deposit(string account, long cents)
    {
        if (cents <= 0) throw new ArgumentException($"{cents} cents cannot be deposited");
        return balances[account] = Balance(account) + cents;
    }

    public long Transfer(string from, string to, long cents)
    {
        if (cents > Balance(from)) throw new InvalidOperationException($"{from} has {Balance(from)} cents, not {cents}");
        Deposit(to, cents);
        return balances[from] = Balance(from) - cents;
    }

    public long Balance(string account) => balances.GetValueOrDefault(account);

    public void Seen(string account) => views[account] = Views(account) + 1;

    public long Views(string account) => views.GetValueOrDefault(account);
}
