using System.Collections.Concurrent;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using Xunit;

namespace CRA.Tests;

/// <content>Several publishers at once, and requests that are lost, late or doubled.</content>
public static partial class CatalogContract
{
    [Needs]
    private static void Find_AmongConcurrentPublishers_NeverMissesAndNeverGoesBack(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        using var stop = new CancellationTokenSource();
        long next = 1;
        Thread[] publishers = [.. Enumerable.Range(0, 2).Select(_ => new Thread(() =>
        {
            ICatalog catalog = f.NewCatalog();
            for (long epoch; (epoch = Interlocked.Increment(ref next)) <= 150;) catalog.Publish(Entry((ulong)epoch));
        }))];
        var faults = new ConcurrentQueue<string>();
        var reader = new Thread(() => Watch(f.NewCatalog(), faults, stop.Token));
        reader.Start();
        foreach (Thread thread in publishers) thread.Start();
        foreach (Thread thread in publishers) thread.Join();
        stop.Cancel();
        reader.Join();
        Assert.Empty(faults);
        Assert.Equal(new Epoch(150), f.NewCatalog().Find(s_counter)!.Epoch);
    }

    [Needs(CatalogFeatures.Swaps)]
    private static void Publish_OfSeveralUuidsAtOnce_GivesTheNameToOne(CatalogFixture f)
    {
        for (int round = 0; round < 5; round++)
        {
            string name = $"n{round}";
            Guid[] uuids = [.. Enumerable.Range(1, 6).Select(i => new Guid(i, (short)round, 0, new byte[8]))];
            var results = new PublishResult[uuids.Length];
            using var start = new Barrier(uuids.Length);
            Thread[] threads = [.. uuids.Select((uuid, i) => new Thread(() =>
            {
                ICatalog catalog = f.NewCatalog();
                start.SignalAndWait();
                results[i] = catalog.Publish(Entry((ulong)i + 1, name, uuid));
            }))];
            foreach (Thread thread in threads) thread.Start();
            foreach (Thread thread in threads) thread.Join();
            Assert.Single(results, PublishResult.Published);
            Assert.Equal(uuids.Length - 1, results.Count(static each => each == PublishResult.NameTaken));
            Assert.Equal(uuids[Array.IndexOf(results, PublishResult.Published)], f.NewCatalog().Find(new InstanceId(name))!.Uuid);
        }
    }

    /// <summary>Whoever wins, the others know it at their next publication, which comes with each heartbeat.</summary>
    [Needs]
    private static void Publish_OfTwoUuidsAtOnce_LeavesOneThatPublishesAgain(CatalogFixture f)
    {
        Guid[] uuids = [s_uuid, s_other];
        using var start = new Barrier(uuids.Length);
        Thread[] threads = [.. uuids.Select(uuid => new Thread(() =>
        {
            ICatalog catalog = f.NewCatalog();
            start.SignalAndWait();
            catalog.Publish(Entry(1, uuid: uuid));
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        PublishResult[] again = [.. uuids.Select(uuid => f.NewCatalog().Publish(Entry(1, uuid: uuid)))];
        Assert.Equal([PublishResult.Published, PublishResult.NameTaken], again.Order());
    }

    [Needs(CatalogFeatures.Faults | CatalogFeatures.Swaps)]
    private static void Publish_WithOneFaultAtEachRequest_IsPublished(CatalogFixture f)
    {
        CatalogFault[] kinds = [CatalogFault.AnswerLost, CatalogFault.RequestLost, CatalogFault.Doubled];
        ulong epoch = 0;
        foreach (CatalogFault kind in kinds)
            for (int at = 0; at < 3; at++)
            {
                int left = at;
                var faults = new CatalogFaults { Next = () => left-- == 0 ? kind : CatalogFault.None };
                ICatalog catalog = f.NewCatalog(faults);
                epoch++;
                try
                {
                    Assert.Equal(PublishResult.Published, catalog.Publish(Entry(epoch)));
                }
                catch (IOException)
                {
                    Assert.True(at == 0 || faults.Requests < 3, $"{kind} at request {at} is a failure"); // nothing was asked to change yet
                    Published(catalog, Entry(epoch));
                }
                Assert.Equal(Entry(epoch), f.NewCatalog().Find(s_counter));
            }
    }

    [Needs(CatalogFeatures.Faults | CatalogFeatures.Network)]
    private static void Publish_ThatComesLate_ReplacesNothingNewer(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        int requests = 0;
        var faults = new CatalogFaults();
        ICatalog late = f.NewCatalog(faults);
        late.Find(s_counter); // whatever is asked once only was asked by now
        faults.Next = () => ++requests > 1 ? CatalogFault.Late : CatalogFault.None; // the first request is a read
        Assert.Throws<IOException>(() => late.Publish(Entry(2)));
        Assert.Equal(Entry(1), f.NewCatalog().Find(s_counter));
        Published(f.NewCatalog(), Entry(3));
        faults.Deliver();
        Assert.Equal(Entry(3), f.NewCatalog().Find(s_counter));
    }

    [Needs(CatalogFeatures.Faults | CatalogFeatures.Network)]
    private static void Forget_ThatComesLate_RemovesNothingNewer(CatalogFixture f)
    {
        Published(f.NewCatalog(), Entry(1));
        int requests = 0;
        var faults = new CatalogFaults();
        ICatalog late = f.NewCatalog(faults);
        late.Find(s_counter);
        faults.Next = () => ++requests > 1 ? CatalogFault.Late : CatalogFault.None; // the first request is a read
        Assert.Throws<IOException>(() => late.Forget(s_counter));
        Published(f.NewCatalog(), Entry(2));
        faults.Deliver();
        Assert.Equal(Entry(2), f.NewCatalog().Find(s_counter));
        Assert.Equal(new Epoch(2), f.NewCatalog().Epochs()[s_counter]);
    }

    [Needs(CatalogFeatures.Faults)]
    private static void Publish_ThatDiesAtAnyRequest_LeavesAnEntryThatCanBeReplaced(CatalogFixture f)
    {
        ulong epoch = 1;
        Published(f.NewCatalog(), Entry(epoch));
        for (int at = 0; at < 8; at++)
        {
            int left = at;
            var faults = new CatalogFaults { Next = () => left-- == 0 ? CatalogFault.Crash : CatalogFault.None };
            epoch++;
            try
            {
                f.NewCatalog(faults).Publish(Entry(epoch));
            }
            catch (PublisherCrashException)
            {
                Assert.True(f.NewCatalog().Find(s_counter)!.Epoch.Value >= epoch - 1);
            }
            epoch++;
            Published(f.NewCatalog(), Entry(epoch));
            Assert.Equal([Entry(epoch)], f.NewCatalog().All());
        }
    }

    [Needs(CatalogFeatures.Faults)]
    private static void Members_OfAStoreThatFails_ThrowOnlyIOExceptions(CatalogFixture f)
    {
        ICatalog catalog = f.NewCatalog(new CatalogFaults { Next = static () => CatalogFault.RequestLost });
        Assert.ThrowsAny<IOException>(() => catalog.Find(s_counter));
        Assert.ThrowsAny<IOException>(() => catalog.All());
        Assert.ThrowsAny<IOException>(() => catalog.Epochs());
        Assert.ThrowsAny<IOException>(() => catalog.Publish(Entry(1)));
        Assert.ThrowsAny<IOException>(() => catalog.Forget(s_counter));
        Assert.ThrowsAny<IOException>(() => catalog.Secret);
        if (f.Features.HasFlag(CatalogFeatures.Network)) Assert.ThrowsAny<IOException>(catalog.CheckSecret);
        Assert.Empty(f.NewCatalog().All());
    }

    /// <summary>The property: programs of two to eight publishers over three names, with faults, acting between each other's
    /// requests.</summary>
    [Needs(CatalogFeatures.Faults)]
    private static void Programs_OfSeveralPublishersWithFaults_KeepTheModel(CatalogFixture f)
    {
        int programs = Math.Max(3, TestScale.Rounds(f.ProgramsOfARelease));
        for (int i = 0; i < programs; i++)
        {
            ulong seed = (ulong)i + 1;
            if (new CatalogModel(f, seed).Run() is { } wrong) Assert.Fail($"seed {seed}: {wrong}");
        }
    }
}
