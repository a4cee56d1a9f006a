using System.Globalization;

namespace Ambrosia.EndToEnd.App;

/// <summary>
/// The account's second version in a build of its own, in which nothing of the first one is left: the class keeps its name, a field was
/// renamed, some are new, and the rest is found by name.
/// </summary>
[AppVersion(2)]
public sealed partial class AccountV1 : Immortal<IAccountProxy>, IAccount
{
    internal readonly List<long> _deposits = [];
    internal readonly ILedgerProxy _ledger;
    internal readonly byte[] _ballast = [];

    [FormerlyNamed("_cents")]
    internal long _balance;

    internal ulong _calls, _noted, _upgrades;
    internal Planted _planted;

    public AccountV1() => _ledger = GetProxy<ILedger>(Settings.Peer);

    public string Deposit(long cents)
    {
        Add(cents);
        _deposits.Add(cents);
        _ledger.PutFork(++_calls, default);
        thisProxy.NotedFork(_calls);
        return string.Create(CultureInfo.InvariantCulture, $"2:{_balance}");
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
        CultureInfo.InvariantCulture, $"2 {_balance} {_deposits.Sum()} {_calls} {_noted} {_upgrades}");

    public void Noted(ulong number) => _noted += number;

    protected override void OnUpgraded(uint from)
    {
        _upgrades++;
        _planted = new Planted(_upgrades);
        _ledger.PutFork(++_calls, default);
        thisProxy.NotedFork(_calls);
    }

    private void Add(long cents) => _balance += cents;
}
