using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region contract
public interface IAccount
{
    void Deposit(long cents);

    Call<long> Withdraw(long cents);
}

public sealed partial class Account : Immortal<IAccount>, IAccount
{
    private long _balance;

    public void Deposit(long cents) => _balance += cents;

    public Call<long> Withdraw(long cents) =>
        cents <= _balance ? Call.FromResult(_balance -= cents) : throw new InvalidOperationException("not enough");
}
#endregion

public interface ITeller
{
    [MethodId(1)]
    Call<long> Move(string from, string to, long cents);

    [MethodId(2)]
    Call<long> Collect(List<string> accounts, long cents);
}

public sealed partial class Teller : Immortal<ITeller>, ITeller
{
    internal long Moved { get; private set; }

    #region calls
    public async Call<long> Move(string from, string to, long cents)
    {
        IAccountProxy source = GetProxy<IAccount>(from), target = GetProxy<IAccount>(to);
        long left = await source.WithdrawAsync(cents); // suspended until the record with the answer is executed
        target.DepositFork(cents);                     // one-way; arrives exactly once
        Moved += cents;
        return left;
    }
    #endregion

    #region failures and WhenAll
    public async Call<long> Collect(List<string> accounts, long cents)
    {
        var calls = new List<Call<long>>();
        foreach (string name in accounts)
        {
            IAccountProxy account = GetProxy<IAccount>(name);
            calls.Add(account.WithdrawAsync(cents));
        }
        try
        {
            return (await Call.WhenAll(calls)).Sum();
        }
        catch (RemoteCallException e) when (e.TypeName == "System.InvalidOperationException")
        {
            return -1;
        }
    }
    #endregion
}

public sealed class CallExamples
{
    private static readonly uint s_withdraw = MethodIds.Of("IAccount", "Withdraw"),
        s_deposit = MethodIds.Of("IAccount", "Deposit");

    [Fact]
    public void Contract_IsServed()
    {
        FakeCoordinator account = Started<Account>();
        account.Deliver(Fork(s_deposit, 500), Call(s_withdraw, 1, 200), Call(s_withdraw, 2, 400));

        Assert.Equal($"result bank2 {s_withdraw} #1 300", account.Said[1]);
        Assert.StartsWith($"failure bank2 {s_withdraw} #2", account.Said[2], StringComparison.Ordinal);
    }

    [Fact]
    public void Calls_AreAwaitedAndForked()
    {
        FakeCoordinator teller = Started<Teller>();
        teller.Deliver(Call(1, 7, "bank2", "bank3", 50), Result(s_withdraw, 1, 1, 950));

        Assert.Equal(50, teller.Immortal<Teller>().Moved);
        Assert.Contains($"call bank2 {s_withdraw} #1 50", teller.Said);
        Assert.Contains($"fork bank3 {s_deposit} 50", teller.Said);
        Assert.Contains("result bank2 1 #7 950", teller.Said);
    }

    [Fact]
    public void WhenAll_SumsInOrder()
    {
        FakeCoordinator teller = Started<Teller>();
        teller.Deliver(Call(2, 7, new[] { "bank2", "bank3" }, 50), Result(s_withdraw, 2, 2, 20), Result(s_withdraw, 1, 1, 30));

        Assert.Contains("result bank2 2 #7 50", teller.Said);
    }
}
