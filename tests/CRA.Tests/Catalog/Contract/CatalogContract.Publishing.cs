using Ambrosia.Protocol;
using CRA.Catalog;
using Xunit;

namespace CRA.Tests;

/// <content>Who may replace whom, what is forgotten, and what is made of damaged values.</content>
public static partial class CatalogContract
{
    [Needs]
    private static void Publish_OfALowerEpoch_IsOutdatedAndChangesNothing(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(2));
        Assert.Equal(PublishResult.Outdated, f.NewCatalog().Publish(Entry(1)));
        Assert.Equal(Entry(2), f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfTheSameEpoch_ReplacesTheEntry(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(2));
        Published(f.NewCatalog(), Entry(2, address: "127.0.0.1:4712"));
        Assert.Equal(Entry(2, address: "127.0.0.1:4712"), f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfTheSameEntry_IsPublishedEachTime(CatalogFixture f)
    {
        ICatalog catalog = f.NewCatalog();
        for (int i = 0; i < 3; i++) Published(catalog, Entry(2));
        Published(f.NewCatalog(), Entry(2));
        Assert.Equal([Entry(2)], catalog.All());
    }

    [Needs]
    private static void Publish_OfAHigherEpoch_ReplacesTheLower(CatalogFixture f)
    {
        foreach (ulong epoch in new ulong[] { 1, 2, 9, 10, 11, 100 }) Published(f.NewCatalog(), Entry(epoch));
        Assert.Equal([Entry(100)], f.NewCatalog().All());
    }

    [Needs]
    private static void Publish_OfAnotherUuid_FindsTheNameTakenUntilForgotten(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(2));
        CatalogEntry other = Entry(7, uuid: s_other);
        Assert.Equal(PublishResult.NameTaken, f.NewCatalog().Publish(other));
        Assert.Equal(Entry(2), f.NewCatalog().Find(other.Instance));
        f.NewCatalog().Forget(other.Instance);
        Assert.Null(f.NewCatalog().Find(other.Instance));
        Published(f.NewCatalog(), other);
        Assert.Equal(PublishResult.NameTaken, f.NewCatalog().Publish(Entry(8)));
    }

    [Needs]
    private static void Publish_OfAnotherUuidAndALowerEpoch_FindsTheNameTaken(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(5));
        Assert.Equal(PublishResult.NameTaken, f.NewCatalog().Publish(Entry(4, uuid: s_other)));
        Assert.Equal(PublishResult.NameTaken, f.NewCatalog().Publish(Entry(5, uuid: s_other)));
        Assert.Equal(Entry(5), f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfAnotherShard_IsAnotherName(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(5));
        Published(f.NewCatalog(), Shard(Entry(1, uuid: s_other), 1));
        Assert.Equal(Entry(5), f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfAnEntryOverALimit_IsRefused(CatalogFixture f)
    {
        ICatalog catalog = f.NewCatalog();
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(0)));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1, "bad.name")));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1, "../up")));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1, uuid: Guid.Empty)));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1, address: new string('a', CatalogLimits.AddressCharsMax + 1))));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1) with { LogPath = "/l\n" }));
        Assert.Throws<ArgumentException>(() => catalog.Publish(Entry(1) with { Replicas = [.. Entry(1).Replicas, .. Entry(1).Replicas] }));
        Assert.Empty(catalog.All());
    }

    [Needs]
    private static void Forget_OfAnUnknownName_DoesNothing(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        f.NewCatalog().Forget(new InstanceId("other"));
        Assert.Equal([Entry(1)], f.NewCatalog().All());
    }

    [Needs]
    private static void Forget_Twice_IsAsOnce(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        f.NewCatalog().Forget(s_counter);
        f.NewCatalog().Forget(s_counter);
        Assert.Empty(f.NewCatalog().All());
        Published(f.NewCatalog(), Entry(1));
    }

    [Needs]
    private static void Forget_OfAnInstance_LeavesTheSecretAndTheOthers(CatalogFixture f)
    {
        byte[] secret = f.NewCatalog().Secret.ToArray();
        Published(f.NewCatalog(), Entry(1));
        Published(f.NewCatalog(), Entry(1, "counter1"));
        Published(f.NewCatalog(), Shard(Entry(1), 1));
        f.NewCatalog().Forget(s_counter);
        Assert.Equal(secret, f.NewCatalog().Secret.ToArray());
        Assert.Equal([new InstanceId("counter", 1), new InstanceId("counter1")], f.NewCatalog().All().Select(static e => e.Instance));
    }

    [Needs]
    private static void Publish_AfterForget_BeginsAtAnyEpoch(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(9));
        f.NewCatalog().Forget(s_counter);
        Published(f.NewCatalog(), Entry(1, uuid: s_other));
        Assert.Equal(new Epoch(1), f.NewCatalog().Epochs()[s_counter]);
    }

    [Needs(CatalogFeatures.Raw)]
    private static void Find_OfADamagedValue_GivesNullAndWarnsOnce(CatalogFixture f)
    {
        f.PutEntry(s_counter, 5, "{\"instance\":");
        ICatalog catalog = f.NewCatalog();
        Assert.Null(catalog.Find(s_counter));
        Assert.Null(catalog.Find(s_counter));
        Assert.Contains("P8.2", Assert.Single(f.Warnings), StringComparison.Ordinal);
    }

    [Needs(CatalogFeatures.Raw)]
    private static void Find_OfTheEntryOfAnotherName_GivesNull(CatalogFixture f)
    {
        f.PutEntry(s_counter, 5, TextOf("another", 5));
        Assert.Null(f.NewCatalog().Find(s_counter));
        Assert.Single(f.Warnings);
    }

    [Needs(CatalogFeatures.Raw)]
    private static void All_WithADamagedValue_GivesTheOthers(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1, "a"));
        Published(f.NewCatalog(), Entry(1, "z"));
        f.PutEntry(s_counter, 5, "rubbish");
        Assert.Equal(["a", "z"], f.NewCatalog().All().Select(static e => e.Instance.Name));
    }

    [Needs(CatalogFeatures.Raw)]
    private static void Publish_OverADamagedValue_IsPublished(CatalogFixture f)
    {
        f.PutEntry(s_counter, 5, "rubbish");
        Published(f.NewCatalog(), Entry(6));
        Assert.Equal(Entry(6), f.NewCatalog().Find(s_counter));
    }

    [Needs(CatalogFeatures.Raw)]
    private static void Find_OfAnEntryThatSomebodyWrote_GivesIt(CatalogFixture f)
    {
        f.PutEntry(s_counter, 5, TextOf("counter", 5));
        Assert.Equal(Entry(5), f.NewCatalog().Find(s_counter));
    }

    private static string TextOf(string name, ulong epoch) =>
        $$"""{"instance":"{{name}}","shard":0,"uuid":"{{s_uuid}}","log":"/var/ambrosia/counter","epoch":{{epoch}},"replicas":[{"name":"r0","address":"127.0.0.1:4711","role":"primary","epoch":{{epoch}}}]}""";
}
