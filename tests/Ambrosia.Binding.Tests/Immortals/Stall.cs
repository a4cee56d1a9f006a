namespace Ambrosia.Binding.Tests.Immortals;

public sealed class SoldOutException(string message) : Exception(message);

public sealed class ClosedException(string message, Exception? inner) : InvalidOperationException(message, inner);

/// <summary>A contract whose failures both sides know.</summary>
[Throws(typeof(SoldOutException))]
public interface IStall
{
    [MethodId(1)]
    Call<long> Sell(string article);

    [MethodId(2)]
    [Throws(typeof(ClosedException))]
    Call<string> Fetch(string article);
}

public sealed partial class Stall : Immortal<IStall>, IStall
{
    public Call<long> Sell(string article) => article switch
    {
        "tea" => throw new SoldOutException("no tea is left"),
        "milk" => throw new ClosedException("closed", new FormatException("the clock")),
        _ => throw new ArgumentException($"what is {article}?"),
    };

    public async Call<string> Fetch(string article)
    {
        var other = GetProxy<IStall>("bank2");
        try
        {
            return $"{await other.SellAsync(article)}";
        }
        catch (SoldOutException e)
        {
            await Delay(TimeSpan.FromSeconds(1)); // it is alive over an await, and so over a restart
            return $"sold out: {e.Message}";
        }
        catch (ClosedException e)
        {
            return $"closed: {e.Message}, {e.InnerException?.Message}";
        }
        catch (RemoteCallException e)
        {
            return $"{e.TypeName}: {e.Message}";
        }
    }
}
