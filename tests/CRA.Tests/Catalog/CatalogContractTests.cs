using System.Collections.Concurrent;
using System.Security.Cryptography;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using Ambrosia.TestKit.Catalogs;
using CRA.Catalog;

namespace CRA.Tests;

/// <summary>
/// The contract of <see cref="ICatalog"/>, which every implementation keeps: the directory of the product and the double of the test kit.
/// </summary>
public abstract class CatalogContractTests
{
    private static readonly Guid s_uuid = new("0f0e0d0c-0b0a-0908-0706-050403020100");

    private readonly Lazy<ICatalog> _first;

    protected CatalogContractTests() => _first = new Lazy<ICatalog>(NewCatalog);

    /// <summary>Another process's view on the same store.</summary>
    protected abstract ICatalog NewCatalog();

    private ICatalog Catalog => _first.Value;

    internal static CatalogEntry Entry(ulong epoch, string name = "counter", Guid? uuid = null, string address = "127.0.0.1:4711") =>
        new(new InstanceId(name), uuid ?? s_uuid, "/var/ambrosia/" + name, new Epoch(epoch),
            [new ReplicaEntry("r0", address, "primary", new Epoch(epoch))]);

    [Fact]
    public void Find_AfterPublish_GivesTheSameEntry()
    {
        CatalogEntry entry = Entry(3) with
        {
            Replicas = [.. Enumerable.Range(0, 3).Select(i => new ReplicaEntry($"r{i}", $"[::1]:{i + 1}", "secondary", new Epoch(2)))]
        };
        Assert.Equal(PublishResult.Published, Catalog.Publish(entry));
        Assert.Equal(entry, NewCatalog().Find(entry.Instance));
        Assert.Null(Catalog.Find(new InstanceId("other")));
        Assert.Null(Catalog.Find(new InstanceId("counter", 1)));
    }

    [Fact]
    public void Epochs_OfAllInstances_AreTheHighest()
    {
        Assert.Empty(Catalog.Epochs());
        Catalog.Publish(Entry(3));
        Catalog.Publish(Entry(12));
        Catalog.Publish(Entry(7, "other", Guid.NewGuid()));
        Dictionary<InstanceId, Epoch> expected = new()
        {
            [new InstanceId("counter")] = new Epoch(12), [new InstanceId("other")] = new Epoch(7)
        };
        Assert.Equal(expected, NewCatalog().Epochs().ToDictionary());
    }

    [Fact]
    public void Publish_OfAnotherUuid_FindsTheNameTakenUntilForgotten()
    {
        Catalog.Publish(Entry(2));
        CatalogEntry other = Entry(7, uuid: Guid.NewGuid());
        Assert.Equal(PublishResult.NameTaken, Catalog.Publish(other));
        Assert.Equal(s_uuid, Catalog.Find(other.Instance)!.Uuid);
        Catalog.Forget(other.Instance);
        Assert.Null(Catalog.Find(other.Instance));
        Assert.Equal(PublishResult.Published, Catalog.Publish(other));
    }

    [Fact]
    public void Publish_OfTheLargestEntry_KeepsAllOfIt()
    {
        ReplicaEntry[] replicas = [.. Enumerable.Range(0, CatalogLimits.ReplicasMax).Select(i => new ReplicaEntry(
            $"r{i}".PadRight(Names.CharsMax, 'x'), new string('\u00e9', CatalogLimits.AddressCharsMax),
            new string('"', CatalogLimits.RoleCharsMax), new Epoch(ulong.MaxValue)))];
        CatalogEntry entry = Entry(ulong.MaxValue, new string('n', Names.CharsMax)) with
        {
            LogPath = new string('\u00e9', CatalogLimits.LogPathCharsMax), Replicas = replicas
        };
        Assert.Equal(PublishResult.Published, Catalog.Publish(entry));
        Assert.Equal(entry, Catalog.Find(entry.Instance));
    }

    [Fact]
    public void Find_AmongConcurrentPublishers_NeverMissesAndNeverGoesBack()
    {
        Catalog.Publish(Entry(1));
        using var stop = new CancellationTokenSource();
        long next = 1;
        Thread[] publishers = [.. Enumerable.Range(0, 2).Select(_ => new Thread(() =>
        {
            ICatalog catalog = NewCatalog();
            for (long epoch; (epoch = Interlocked.Increment(ref next)) <= 150;) catalog.Publish(Entry((ulong)epoch));
        }))];
        var faults = new ConcurrentQueue<string>();
        var reader = new Thread(() => Watch(NewCatalog(), faults, stop.Token));
        reader.Start();
        foreach (Thread thread in publishers) thread.Start();
        foreach (Thread thread in publishers) thread.Join();
        stop.Cancel();
        reader.Join();
        Assert.Empty(faults);
        Assert.Equal(new Epoch(150), Catalog.Find(new InstanceId("counter"))!.Epoch);
    }

    [Fact]
    public void Publish_OfALowerEpoch_IsOutdatedAndChangesNothing()
    {
        Catalog.Publish(Entry(2));
        Assert.Equal(PublishResult.Outdated, Catalog.Publish(Entry(1)));
        Assert.Equal(Entry(2), Catalog.Find(new InstanceId("counter")));
    }

    [Fact]
    public void Publish_OfTheSameEpoch_ReplacesTheEntry()
    {
        Catalog.Publish(Entry(2));
        Assert.Equal(PublishResult.Published, Catalog.Publish(Entry(2, address: "127.0.0.1:4712")));
        Assert.Equal(Entry(2, address: "127.0.0.1:4712"), NewCatalog().Find(new InstanceId("counter")));
    }

    [Fact]
    public void Publish_OfAnEntryOverALimit_IsRefused()
    {
        Assert.Throws<ArgumentException>(() => Catalog.Publish(Entry(0)));
        Assert.Throws<ArgumentException>(() => Catalog.Publish(Entry(1, "bad.name")));
        Assert.Throws<ArgumentException>(() => Catalog.Publish(Entry(1, address: new string('a', CatalogLimits.AddressCharsMax + 1))));
        Assert.Throws<ArgumentException>(() => Catalog.Publish(Entry(1) with { Replicas = [.. Entry(1).Replicas, .. Entry(1).Replicas] }));
        Assert.Empty(Catalog.All());
    }

    [Fact]
    public void All_OfSeveralInstances_IsOrderedAndHoldsEachShard()
    {
        CatalogEntry[] entries = [Entry(1, "a"), Entry(4), Entry(2) with { Instance = new InstanceId("counter", 1) },
            Entry(3) with { Instance = new InstanceId("counter", 65535) }];
        foreach (CatalogEntry entry in entries.Reverse()) Assert.Equal(PublishResult.Published, Catalog.Publish(entry));
        Assert.Equal(entries, NewCatalog().All());
        Catalog.Forget(new InstanceId("counter", 1));
        Assert.Equal([entries[0], entries[1], entries[3]], Catalog.All());
    }

    [Fact]
    public void Secret_UnderARace_IsMadeOnce()
    {
        byte[][] secrets = new byte[8][];
        using var start = new Barrier(secrets.Length);
        Thread[] threads = [.. Enumerable.Range(0, secrets.Length).Select(i => new Thread(() =>
        {
            ICatalog catalog = NewCatalog();
            start.SignalAndWait();
            secrets[i] = catalog.Secret.ToArray();
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        Assert.Equal(32, secrets[0].Length);
        Assert.All(secrets, secret => Assert.Equal(secrets[0], secret));
        Assert.Equal(secrets[0], NewCatalog().Secret.ToArray());
    }

    /// <summary>The oracle of the race, which the control with a torn store uses too: an epoch that was seen never goes back.</summary>
    internal static void Watch(ICatalog catalog, ConcurrentQueue<string> faults, CancellationToken stop)
    {
        ulong highest = 0;
        while (!stop.IsCancellationRequested)
        {
            ulong epoch = catalog.Find(new InstanceId("counter"))?.Epoch.Value ?? 0;
            if (epoch < highest) faults.Enqueue($"epoch {epoch} after {highest}");
            highest = Math.Max(highest, epoch);
        }
    }
}

/// <summary>The contract, kept by a directory on a real disk.</summary>
public sealed class DirectoryCatalogContractTests : CatalogContractTests, IDisposable
{
    private readonly TestFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    protected override ICatalog NewCatalog() =>
        new DirectoryCatalog(new RealCatalogFiles(_folder.Path), RandomNumberGenerator.Fill,
            EventRecorder.OfTexts(static line => Assert.Fail(line)));
}

/// <summary>The contract, kept by the double; and what only the double can do.</summary>
public sealed class InMemoryCatalogTests : CatalogContractTests
{
    private readonly InMemoryCatalog _store = new(RandomNumberGenerator.Fill);

    protected override ICatalog NewCatalog() => _store;

    [Fact]
    public void Members_WhileTheStoreIsDown_Throw_AndNothingIsLost()
    {
        _store.Publish(Entry(1));
        _store.IsDown = true;
        Assert.Throws<IOException>(() => _store.Find(new InstanceId("counter")));
        Assert.Throws<IOException>(() => _store.Publish(Entry(2)));
        Assert.Throws<IOException>(() => _store.Secret);
        _store.IsDown = false;
        Assert.Equal(Entry(1), _store.Find(new InstanceId("counter")));
    }
}
