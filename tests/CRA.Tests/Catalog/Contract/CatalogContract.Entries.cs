using Ambrosia.Protocol;
using CRA.Catalog;
using Xunit;

namespace CRA.Tests;

/// <content>What is found is what was published.</content>
public static partial class CatalogContract
{
    [Needs]
    private static void Find_AfterPublish_GivesTheSameEntry(CatalogFixture f)
    {
        CatalogEntry entry = Entry(3) with
        {
            Replicas = [.. Enumerable.Range(0, 3).Select(i => new ReplicaEntry($"r{i}", $"[::1]:{i + 1}", "secondary", new Epoch(2)))]
        };
        Published(f.NewCatalog(), entry);
        Assert.Equal(entry, f.NewCatalog().Find(entry.Instance));
    }

    [Needs]
    private static void Find_OfAnUnknownName_GivesNull(CatalogFixture f)
    {
        Assert.Null(f.NewCatalog().Find(s_counter));
        Published(f.NewCatalog(), Entry(1));
        Assert.Null(f.NewCatalog().Find(new InstanceId("counte")));
        Assert.Null(f.NewCatalog().Find(new InstanceId("counter2")));
    }

    [Needs]
    private static void Find_OfAnotherShard_GivesNull(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        Assert.Null(f.NewCatalog().Find(new InstanceId("counter", 1)));
    }

    [Needs]
    private static void Find_ByOneThatLookedBefore_SeesWhatIsNew(CatalogFixture f)
    {
        ICatalog reader = f.NewCatalog(), writer = f.NewCatalog();
        for (ulong epoch = 1; epoch <= 5; epoch++)
        {
            Published(writer, Entry(epoch));
            Assert.Equal(Entry(epoch), reader.Find(s_counter));
        }
    }

    [Needs(CatalogFeatures.Restart)]
    private static void Find_AfterTheStoreWasKilled_GivesTheSameEntry(CatalogFixture f)
    {
        ICatalog before = f.NewCatalog();
        Published(before, Entry(4));
        byte[] secret = before.Secret.ToArray();
        f.Kill();
        Assert.Throws<IOException>(() => before.Find(s_counter));
        Assert.Throws<IOException>(() => before.Publish(Entry(5)));
        Assert.Throws<IOException>(() => before.All());
        Assert.Throws<IOException>(() => before.Epochs());
        Assert.Throws<IOException>(f.NewCatalog().CheckSecret);
        f.Start();
        Assert.Equal(new Epoch(4), before.Find(s_counter)!.Epoch);
        Assert.Equal(secret, f.NewCatalog().Secret.ToArray());
        Published(before, Entry(5));
    }

    [Needs]
    private static void Publish_OfTheLargestEntry_KeepsAllOfIt(CatalogFixture f)
    {
        ReplicaEntry[] replicas = [.. Enumerable.Range(0, CatalogLimits.ReplicasMax).Select(i => new ReplicaEntry(
            $"r{i}".PadRight(Names.CharsMax, 'x'), new string('\u00e9', CatalogLimits.AddressCharsMax),
            new string('"', CatalogLimits.RoleCharsMax), new Epoch(ulong.MaxValue)))];
        CatalogEntry entry = Entry(ulong.MaxValue, new string('n', Names.CharsMax)) with
        {
            LogPath = new string('\u00e9', CatalogLimits.LogPathCharsMax), Replicas = replicas
        };
        Published(f.NewCatalog(), entry);
        Assert.Equal(entry, f.NewCatalog().Find(entry.Instance));
        Assert.Equal([entry], f.NewCatalog().All());
        Published(f.NewCatalog(), entry);
    }

    [Needs]
    private static void Publish_OfASmallEntryOverALarge_LeavesNothingOfIt(CatalogFixture f)
    {
        ReplicaEntry[] replicas = [.. Enumerable.Range(0, CatalogLimits.ReplicasMax).Select(static i =>
            new ReplicaEntry($"r{i}", new string('\u00e9', CatalogLimits.AddressCharsMax), new string('"', CatalogLimits.RoleCharsMax),
                new Epoch(1)))];
        Published(f.NewCatalog(), Entry(1) with { LogPath = new string('\u00e9', CatalogLimits.LogPathCharsMax), Replicas = replicas });
        Published(f.NewCatalog(), Entry(2));
        Assert.Equal(Entry(2), f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_WithoutReplicas_IsKept(CatalogFixture f)
    {
        CatalogEntry entry = Entry(1) with { Replicas = [] };
        Published(f.NewCatalog(), entry);
        Assert.Equal(entry, f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfTextsBeyondAscii_KeepsThem(CatalogFixture f)
    {
        CatalogEntry entry = Entry(1) with { LogPath = "/d\u00e4ten/\u65e5\u672c/\ud83d\ude00 '\"<&>%2F" };
        Published(f.NewCatalog(), entry);
        Assert.Equal(entry, f.NewCatalog().Find(s_counter));
    }

    [Needs]
    private static void Publish_OfNamesThatDifferByCase_KeepsBoth(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1, "Bank"));
        Published(f.NewCatalog(), Entry(2, "bank", s_other));
        Assert.Equal([new Epoch(1), new Epoch(2)],
            new[] { f.NewCatalog().Find(new InstanceId("Bank"))!.Epoch, f.NewCatalog().Find(new InstanceId("bank"))!.Epoch });
    }

    [Needs]
    private static void Publish_OfANameLikeTheSecret_LeavesTheSecret(CatalogFixture f)
    {
        byte[] secret = f.NewCatalog().Secret.ToArray();
        Published(f.NewCatalog(), Entry(1, "secret"));
        Assert.Equal(secret, f.NewCatalog().Secret.ToArray());
        Assert.Equal(Entry(1, "secret"), f.NewCatalog().Find(new InstanceId("secret")));
    }

    [Needs]
    private static void All_OfAnEmptyCatalog_IsEmpty(CatalogFixture f)
    {
        Assert.Empty(f.NewCatalog().All());
        Assert.Empty(f.NewCatalog().Epochs());
        _ = f.NewCatalog().Secret;
        Assert.Empty(f.NewCatalog().All());
        Assert.Empty(f.NewCatalog().Epochs());
    }

    [Needs]
    private static void All_OfSeveralInstances_IsOrderedAndHoldsEachShard(CatalogFixture f)
    {
        CatalogEntry[] entries = [Entry(1, "a"), Entry(4), Shard(Entry(2), 1), Shard(Entry(3), 65535)];
        foreach (CatalogEntry entry in entries.Reverse()) Published(f.NewCatalog(), entry);
        Assert.Equal(entries, f.NewCatalog().All());
        f.NewCatalog().Forget(new InstanceId("counter", 1));
        Assert.Equal([entries[0], entries[1], entries[3]], f.NewCatalog().All());
    }

    [Needs]
    private static void All_OfManyInstances_HasEachOnce(CatalogFixture f)
    {
        CatalogEntry[] entries = [.. Enumerable.Range(0, 40).Select(static i => Entry((ulong)i + 1, $"i{i:00}"))];
        ICatalog catalog = f.NewCatalog();
        foreach (CatalogEntry entry in entries) Published(catalog, entry);
        Assert.Equal(entries, f.NewCatalog().All());
        Assert.Equal(entries.Length, f.NewCatalog().Epochs().Count);
    }

    [Needs]
    private static void Epochs_OfAllInstances_AreTheHighest(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(3));
        Published(f.NewCatalog(), Entry(12));
        Published(f.NewCatalog(), Entry(7, "other", s_other));
        Published(f.NewCatalog(), Shard(Entry(9), 3));
        Dictionary<InstanceId, Epoch> expected = new()
        {
            [s_counter] = new Epoch(12), [new InstanceId("counter", 3)] = new Epoch(9), [new InstanceId("other")] = new Epoch(7),
        };
        Assert.Equal(expected, f.NewCatalog().Epochs().ToDictionary());
    }

    [Needs]
    private static void Epochs_OfTheHighestNumber_AreExact(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(ulong.MaxValue));
        Assert.Equal(new Epoch(ulong.MaxValue), Assert.Single(f.NewCatalog().Epochs()).Value);
    }

    [Needs]
    private static void Epochs_AfterForget_HaveItNoMore(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(3));
        Published(f.NewCatalog(), Entry(4, "other"));
        f.NewCatalog().Forget(s_counter);
        Assert.Equal(new InstanceId("other"), Assert.Single(f.NewCatalog().Epochs()).Key);
    }
}
