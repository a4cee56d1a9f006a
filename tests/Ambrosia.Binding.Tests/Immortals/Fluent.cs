namespace Ambrosia.Binding.Tests.Immortals;

public interface IFluent
{
    [MethodId(1)]
    Call<long> Ask(string seller);

    [MethodId(2)]
    Call<string> First(List<string> sellers);

    [MethodId(3)]
    void Pass(long price);

    [MethodId(4)]
    Call Twice();
}

/// <summary>A class of the app between an immortal and its base: it knows neither the contract's proxy nor a generated part.</summary>
public abstract class Asker(string shop) : Immortal<IFluent>
{
    /// <summary>A proxy that is kept by its contract alone.</summary>
    private readonly Dictionary<string, ProxyOf<IPriced>> _asked = [];

    internal List<long> Prices { get; } = [];

    public void Pass(long price) => Prices.Add(price);

    protected ProxyOf<IPriced> Seller(string name)
    {
        if (_asked.TryGetValue(name, out ProxyOf<IPriced>? known)) return known;
        return _asked[name] = GetProxy<IPriced>($"{shop}{name}");
    }

    /// <summary>It uses the proxy of itself, which here has its methods by extensions.</summary>
    protected void PassOn(long price) => thisProxy.PassFork(price);
}

public interface IPriced
{
    [MethodId(1)]
    long Price();
}

/// <summary>Uses proxies by <c>var</c> and at once, and calls as values.</summary>
public sealed partial class Fluent() : Asker("bank"), IFluent
{
    public async Call<long> Ask(string seller)
    {
        var proxy = Seller(seller); // over the await, as its contract's proxy
        long once = await proxy.PriceAsync();
        long twice = once + await GetProxy<IPriced>(proxy.InstanceName).PriceAsync();
        PassOn(twice);
        return twice;
    }

    public async Call<string> First(List<string> sellers)
    {
        var asked = sellers.ConvertAll(name => Seller(name).PriceAsync());
        string order = "";
        while (asked.Count > 0)
        {
            Call<long> first = await Call.WhenAny(asked.Where(static _ => true));
            order += $"{asked.IndexOf(first)}:{await first} ";
            asked.Remove(first);
        }
        return order;
    }

    public async Call Twice()
    {
        Call[] two = [Delay(TimeSpan.FromSeconds(2)), Delay(TimeSpan.FromSeconds(1))];
        Call first = await Call.WhenAny(two);
        await first;
        thisProxy.PassFork(first == two[1] ? 2 : 1);
        await Call.WhenAll(two[0]);
    }
}
