using CRA.Catalog;
using Xunit;

namespace CRA.Tests;

/// <content>The secret is made once, and never among what others keep.</content>
public static partial class CatalogContract
{
    [Needs]
    private static void Secret_OfAnEmptyCatalog_IsMadeAndStays(CatalogFixture f)
    {
        ICatalog catalog = f.NewCatalog();
        byte[] secret = catalog.Secret.ToArray();
        Assert.Equal(DirectoryCatalog.SecretBytes, secret.Length);
        Assert.Contains(secret, static each => each != 0);
        Assert.Equal(secret, catalog.Secret.ToArray());
        Assert.Equal(secret, f.NewCatalog().Secret.ToArray());
        catalog.CheckSecret();
    }

    [Needs]
    private static void Secret_AfterEntries_IsMadeAllTheSame(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        Assert.Equal(f.NewCatalog().Secret.ToArray(), f.NewCatalog().Secret.ToArray());
        Assert.Equal([Entry(1)], f.NewCatalog().All());
    }

    [Needs]
    private static void Secret_UnderARace_IsMadeOnce(CatalogFixture f)
    {
        byte[][] secrets = new byte[8][];
        using var start = new Barrier(secrets.Length);
        Thread[] threads = [.. Enumerable.Range(0, secrets.Length).Select(i => new Thread(() =>
        {
            ICatalog catalog = f.NewCatalog();
            start.SignalAndWait();
            secrets[i] = catalog.Secret.ToArray();
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        Assert.All(secrets, secret => Assert.Equal(secrets[0], secret));
        Assert.Equal(secrets[0], f.NewCatalog().Secret.ToArray());
    }

    [Needs(CatalogFeatures.Raw)]
    private static void Secret_OfAnotherLength_IsRefusedWithAdvice(CatalogFixture f)
    {
        foreach (int bytes in new[] { 1, 31, 33, 100 })
        {
            f.PutSecret(new byte[bytes]);
            Assert.Contains("remove it", Assert.Throws<CatalogException>(() => f.NewCatalog().Secret).Message, StringComparison.Ordinal);
            Assert.Throws<CatalogException>(f.NewCatalog().CheckSecret);
        }
    }

    [Needs]
    private static void CheckSecret_OfAnEmptyCatalog_MakesNothing(CatalogFixture f)
    {
        f.NewCatalog().CheckSecret();
        byte[] first = f.NewCatalog().Secret.ToArray();
        f.NewCatalog().CheckSecret();
        Assert.Equal(first, f.NewCatalog().Secret.ToArray());
    }

    [Needs(CatalogFeatures.Network)]
    private static void Secret_OfAReader_IsNotMade(CatalogFixture f)
    {
        Assert.Contains("--catalog", Assert.Throws<IOException>(() => f.NewCatalog(mayMakeSecret: false).Secret).Message,
            StringComparison.Ordinal);
        byte[] secret = f.NewCatalog().Secret.ToArray();
        Assert.Equal(secret, f.NewCatalog(mayMakeSecret: false).Secret.ToArray());
    }

    [Needs(CatalogFeatures.Network)]
    private static void Secret_InAPlaceOfOthers_IsNotMade(CatalogFixture f)
    {
        f.PutForeign();
        Assert.Contains("none of ours", Assert.Throws<CatalogException>(f.NewCatalog().CheckSecret).Message, StringComparison.Ordinal);
        Assert.Throws<CatalogException>(() => f.NewCatalog().Secret);
        Assert.Throws<IOException>(() => f.NewCatalog(mayMakeSecret: false).Secret);
    }

    [Needs(CatalogFeatures.Network)]
    private static void CheckSecret_OfACatalogWithSomethingElse_IsFine(CatalogFixture f)
    {
        _ = f.NewCatalog().Secret;
        f.PutForeign();
        f.NewCatalog().CheckSecret();
    }

    [Needs(CatalogFeatures.Faults | CatalogFeatures.Swaps)]
    private static void Secret_WhoseAnswerIsLost_IsTheOneThatStandsThere(CatalogFixture f)
    {
        for (int lost = 1; lost <= 4; lost++)
        {
            int count = lost;
            var faults = new CatalogFaults { Next = () => --count == 0 ? CatalogFault.AnswerLost : CatalogFault.None };
            byte[]? secret = null;
            try
            {
                secret = f.NewCatalog(faults).Secret.ToArray();
            }
            catch (IOException)
            {
                // nobody was told a secret, so none can be wrong
            }
            Assert.Equal(secret ?? f.NewCatalog().Secret.ToArray(), f.NewCatalog().Secret.ToArray());
        }
    }
}
