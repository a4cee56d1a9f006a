namespace Ambrosia.Hosting.Tests.Configuration.Older;

/// <summary>A version of the shop's contract from before there was all else.</summary>
public interface IShop
{
    long Sell(string article);
}
