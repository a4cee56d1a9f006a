using Ambrosia;

namespace WebBank;

/// <summary>
/// The bank is an ordinary class with a dictionary. Whatever happens to its process, it forgets nothing and does nothing twice.
/// </summary>
public sealed partial class Bank : Immortal<IBank>, IBank
{
    private readonly SortedDictionary<string, Account> _accounts = new(StringComparer.Ordinal);
    private readonly IExchangeProxy _exchange;

    public Bank() => _exchange = GetProxy<IExchange>("exchange");

    public long Deposit(string account, long cents)
    {
        if (cents <= 0) throw new ArgumentException($"{cents} cents cannot be deposited");
        return Open(account).Cents += cents;
    }

    public void HandIn(string account, long cents) => Deposit(account, cents);

    public long Transfer(string from, string to, long cents)
    {
        Account payer = Take(from, cents);
        Deposit(to, cents);
        return payer.Cents;
    }

    public async Call<Receipt> Remit(string from, string to, long cents, string currency)
    {
        Account payer = Take(from, cents); // before anything is awaited: other handlers run meanwhile
        bool isOrdered = false;
        try
        {
            long rate = await _exchange.RateAsync(currency).Within(TimeSpan.FromSeconds(30));
            long amount = cents * rate / 1000;
            isOrdered = true;
            string confirmation = await NondetTask(
                context => context.Services.GetRequiredService<PaymentNetwork>().PayAsync(context.IdempotencyKey, to, amount, currency),
                new NondetOptions { Attempts = 3, Deadline = TimeSpan.FromMinutes(1) });
            _exchange.SoldFork(currency, amount);
            Logger.Information($"{from} has paid {amount} {currency} to {to}");
            return new Receipt(NewGuid(), Now, amount, currency, confirmation);
        }
        // Only where it is certain that nothing was paid: behind a deadline, or a broken disk, the order may still be carried out.
        catch (Exception e) when (isOrdered ? e is RemoteCallException { TypeName: "System.ArgumentException" }
            : e is RemoteCallException or TimeoutException)
        {
            payer.Cents += cents;
            throw new InvalidOperationException($"{cents} cents are back with {from}: {e.Message}");
        }
    }

    public async Call TransferLater(string from, string to, long cents, long seconds)
    {
        Account payer = Open(from);
        payer.Planned++;
        try
        {
            await Delay(TimeSpan.FromSeconds(seconds)).CancelledBy(payer.Plans);
        }
        catch (OperationCanceledException)
        {
            return;
        }
        finally
        {
            payer.Planned--; // still the account in the dictionary, whatever happened to the process
        }
        Transfer(from, to, cents);
    }

    public int CallOff(string from)
    {
        Account payer = Open(from);
        int planned = payer.Planned;
        payer.Plans.Cancel();
        payer.Plans = new CallCancellation();
        return planned;
    }

    public async Call<long[]> Rates(string[] currencies) =>
        await Call.WhenAll(Array.ConvertAll(currencies, currency => _exchange.RateAsync(currency)));

    public async Call<long> Sold(string currency) => await _exchange.TotalSoldAsync(currency);

    public void Seen(string account) => Open(account).Views++;

    public Statement Look(string account) => _accounts.TryGetValue(account, out Account? found)
        ? new Statement(found.Number, found.Cents, found.Views, found.Planned)
        : throw new KeyNotFoundException($"there is no account {account}");

    /// <summary>
    /// Serves the counter. A slip is a line "NUMBER ACCOUNT CENTS". A slip whose number has been taken before changes nothing.
    /// </summary>
    protected override async Task WhilePrimary(CancellationToken ended)
    {
        while (await Console.In.ReadLineAsync(ended) is { } line)
        {
            if (line.Split(' ') is not [var slip, var account, var text] || !long.TryParse(text, out long cents)) continue;
            await thisProxy.WithKey(slip).HandInLogged(account, cents);
            Console.WriteLine($"slip {slip} is taken"); // it is logged, and cannot be lost any more
        }
    }

    private Account Open(string name)
    {
        if (_accounts.TryGetValue(name, out Account? account)) return account;
        account = new Account(Random.NextInt64(100_000, 1_000_000)); // chance, but the same at every replay
        Logger.Information($"{name} has opened account {account.Number}");
        return _accounts[name] = account;
    }

    private Account Take(string name, long cents)
    {
        // before anything is changed: what a handler did before it throws stays
        if (cents <= 0) throw new ArgumentException($"{cents} cents cannot be moved");
        Account account = Open(name);
        if (cents > account.Cents) throw new NotEnoughException($"{name} has {account.Cents} cents, not {cents}");
        account.Cents -= cents;
        return account;
    }
}
