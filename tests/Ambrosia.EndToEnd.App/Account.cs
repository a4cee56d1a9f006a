using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>The first version: cents as a number.</summary>
[AppVersion(1)]
public sealed partial class AccountV1 : Immortal<IAccount>, IAccount
{
    internal readonly List<long> _deposits = [];
    internal readonly ILedgerProxy _ledger;
    internal readonly byte[] _ballast = new byte[Settings.Number("STATE_BYTES", 0)];
    internal long _cents;
    internal ulong _calls, _noted;

    public AccountV1() => _ledger = GetProxy<ILedger>(Settings.Peer);

    public string Deposit(long cents)
    {
        Add(cents);
        _deposits.Add(cents);
        _ledger.PutFork(++_calls, default);
        thisProxy.NotedFork(_calls);
        return string.Create(CultureInfo.InvariantCulture, $"1:{_cents}");
    }

    public async Call<string> DepositLater(long cents)
    {
        Add(cents);
        await Delay(TimeSpan.FromMilliseconds(5));
        ulong asked = await _ledger.NextAsync();
        ulong none = await NondetTask(static () => 0UL);
        _calls += none * asked;
        return string.Create(CultureInfo.InvariantCulture, $"later:{cents}");
    }

    public string Report() => string.Create(CultureInfo.InvariantCulture, $"1 {_cents} {_deposits.Sum()} {_calls} {_noted}");

    public void Noted(ulong number) => _noted += number;

    /// <summary>What differs between the versions stands here: methods that are suspended have the same bodies in both.</summary>
    private void Add(long cents) => _cents += cents;
}

/// <summary>The second version: an amount with its currency, and a count of what the upgrade has brought.</summary>
[AppVersion(2)]
public sealed partial class Account : Immortal<IAccount>, IAccount
{
    private readonly List<Amount> _deposits;
    private readonly ILedgerProxy _ledger;
    private readonly byte[] _ballast;
    private Amount _balance = new(0, "EUR");
    private ulong _calls, _noted, _upgrades;

    public Account() => (_deposits, _ledger, _ballast) = ([], GetProxy<ILedger>(Settings.Peer), []);

    internal Account(AccountV1 old)
    {
        (_ledger, _ballast, _calls, _noted) = (old._ledger, old._ballast, old._calls, old._noted);
        _balance = new Amount(old._cents, "EUR");
        _deposits = [.. old._deposits.Select(static cents => new Amount(cents, "EUR"))];
        switch (Environment.GetEnvironmentVariable("CONVERSION"))
        {
            case "throw": throw new InvalidOperationException("cents are out of fashion");
            case "send": _ledger.PutFork(0, default); break;
            case "hang": Thread.Sleep(Timeout.Infinite); break;
            case "other": _calls++; break;
            case "clock": _calls = (ulong)Environment.TickCount64 ^ (ulong)DateTime.UtcNow.Ticks; break;
            case "die": Environment.FailFast("planted"); break;
            case "allocate": Allocate(); break;
        }
    }

    public string Deposit(long cents)
    {
        Add(cents);
        _deposits.Add(new Amount(cents, "EUR"));
        _ledger.PutFork(++_calls, default);
        thisProxy.NotedFork(_calls);
        return string.Create(CultureInfo.InvariantCulture, $"2:{_balance.Cents}");
    }

    public async Call<string> DepositLater(long cents)
    {
        Add(cents);
        await Delay(TimeSpan.FromMilliseconds(5));
        ulong asked = await _ledger.NextAsync();
        ulong none = await NondetTask(static () => 0UL);
        _calls += none * asked;
        return string.Create(CultureInfo.InvariantCulture, $"later:{cents}");
    }

    public string Report() => string.Create(
        CultureInfo.InvariantCulture, $"2 {_balance.Cents} {_deposits.Sum(static each => each.Cents)} {_calls} {_noted} {_upgrades}");

    public void Noted(ulong number) => _noted += number;

    protected override void OnUpgraded(uint from)
    {
        _upgrades++;
        _ledger.PutFork(++_calls, default);
        thisProxy.NotedFork(_calls);
    }

    private void Add(long cents) => _balance = _balance with { Cents = _balance.Cents + cents };

    /// <summary>A planted fault: it takes memory until there is none.</summary>
    private static void Allocate()
    {
        var all = new List<byte[]>();
        while (true)
        {
            all.Add(new byte[64 << 20]);
            Array.Fill(all[^1], (byte)1);
        }
    }

    internal sealed record Amount(long Cents, string Currency);
}
