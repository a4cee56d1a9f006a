namespace Ambrosia.Binding.Tests;

public interface IClumsy
{
    /// <summary>Misuses the binding in the way that is named.</summary>
    [MethodId(1)]
    Call<int> Misuse(string what);

    /// <summary>The same, and asks another instance before it lets the failure through.</summary>
    [MethodId(2)]
    Call<int> MisuseAndWait(string what);
}

/// <summary>Its handlers do what no handler may do.</summary>
public sealed partial class Clumsy : Immortal<IClumsyProxy>, IClumsy
{
    public async Call<int> Misuse(string what)
    {
        await Try(what);
        return 0;
    }

    public async Call<int> MisuseAndWait(string what)
    {
        try
        {
            await Try(what);
            return 0;
        }
        catch (Exception e) when (e is InvalidOperationException or ArgumentException)
        {
            await ((IBankProxy)GetProxy<IBank>("bank2")).BalanceAsync(e.Message);
            throw;
        }
    }

    private async Call Try(string what)
    {
        IBankProxy bank = GetProxy<IBank>("bank2");
        switch (what)
        {
            case "call": bank.BalanceAsync("x").GetAwaiter().GetResult(); break;
            case "no call": await Call.WhenAny(new List<Call>()); break;
            case "same call":
                Call<long> call = bank.BalanceAsync("x");
                await Call.WhenAny(new List<Call<long>> { call, call });
                break;
            case "name": ((IBankProxy)GetProxy<IBank>("no name")).DepositFork("x", 1); break;
            case "immortal": _ = new Bank(); break;
            case "key": _ = new ImpulseKey([]); break;
            case "impulse": _ = bank.UserInputLogged("x"); break;
            case "timer": Every(TimeSpan.FromSeconds(1), static () => { }); break;
            case "task": await NondetTask(static () => 1, new NondetOptions { Attempts = 0 }); break;
            case "backoff": await NondetTask(static () => 1, new NondetOptions { Backoff = TimeSpan.FromSeconds(-1) }); break;
            case "deadline": await NondetTask(static () => 1, new NondetOptions { Deadline = TimeSpan.FromSeconds(-1) }); break;
        }
    }
}
