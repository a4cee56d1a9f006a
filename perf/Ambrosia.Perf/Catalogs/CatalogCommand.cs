using System.Diagnostics;
using System.Security.Cryptography;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using CRA.Catalog;
using Microsoft.Extensions.Logging.Abstractions;

namespace Ambrosia.Perf;

/// <summary>Publishes and finds in a catalog, one call after the other, and forgets what it has published.</summary>
internal sealed class CatalogCommand(CatalogPlace place, int instances)
{
    private readonly ICatalog _catalog =
        CatalogOpening.Open(place, new PosixFileSystem(), RandomNumberGenerator.Fill, NullLogger.Instance);

    public CatalogResult Run(int calls)
    {
        LatencyHistogram publish = new(), again = new(), find = new(), epochs = new();
        CatalogEntry[] entries = [.. Enumerable.Range(0, instances).Select(NewEntry)];
        _ = _catalog.Secret;
        foreach (CatalogEntry entry in entries) Publish(entry);
        for (int i = 0; i < calls; i++)
        {
            CatalogEntry entry = entries[i % instances];
            entry = entries[i % instances] = entry with { Epoch = new Epoch(entry.Epoch.Value + 1) };
            Time(publish, () => Publish(entry));
            Time(again, () => Publish(entry));
            Time(find, () => _ = _catalog.Find(entry.Instance)?.Equals(entry) == true ? 0 : throw new FailedRoundException("another entry was found"));
            Time(epochs, () => _ = _catalog.Epochs());
        }
        foreach (CatalogEntry entry in entries) _catalog.Forget(entry.Instance);
        return new CatalogResult(place.Text, instances, Latencies.Of(publish), Latencies.Of(again), Latencies.Of(find), Latencies.Of(epochs));
    }

    private void Publish(CatalogEntry entry)
    {
        if (_catalog.Publish(entry) is not PublishResult.Published and var result) throw new FailedRoundException($"{entry.Instance}: {result}");
    }

    private static void Time(LatencyHistogram into, Action call)
    {
        long begun = Stopwatch.GetTimestamp();
        call();
        into.Add(Stopwatch.GetElapsedTime(begun));
    }

    private static CatalogEntry NewEntry(int number) => new(
        new InstanceId($"perf{number}"), Guid.NewGuid(), $"/var/ambrosia/perf{number}", new Epoch(1),
        [new ReplicaEntry("r0", "10.0.0.1:4711", "primary", new Epoch(1)), new ReplicaEntry("r1", "10.0.0.2:4711", "secondary", new Epoch(1))]);
}
