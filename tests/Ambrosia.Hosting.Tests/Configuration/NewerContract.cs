namespace Ambrosia.Hosting.Tests.Configuration.Newer;

/// <summary>A version of the shop's contract that has methods which the shop does not.</summary>
public interface IShop
{
    long Sell(string article);

    long Rent(string article);

    long Lend(string article);
}
