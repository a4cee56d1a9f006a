namespace Ambrosia.Binding.Tests;

public interface ISearcher
{
    /// <summary>Looks for what is not there, and asks another instance before it lets the failure through.</summary>
    [MethodId(1)]
    Call<int> Look(string key);

    /// <summary>The same, with a failure in words of its own.</summary>
    [MethodId(2)]
    Call<int> Refuse(string key);
}

/// <summary>Its handlers wait while an exception is alive.</summary>
public sealed partial class Searcher : Immortal<ISearcherProxy>, ISearcher
{
    private readonly Dictionary<string, int> _known = [];

    public async Call<int> Look(string key)
    {
        try
        {
            return _known[key];
        }
        catch (KeyNotFoundException)
        {
            await ((IBankProxy)GetProxy<IBank>("bank2")).BalanceAsync(key);
            throw;
        }
    }

    public async Call<int> Refuse(string key)
    {
        try
        {
            throw new InvalidOperationException($"no {key} here");
        }
        catch (InvalidOperationException e)
        {
            e.HelpLink = "https://example.org/";
            await ((IBankProxy)GetProxy<IBank>("bank2")).BalanceAsync(key);
            throw new InvalidOperationException(e.HelpLink, e);
        }
    }
}
