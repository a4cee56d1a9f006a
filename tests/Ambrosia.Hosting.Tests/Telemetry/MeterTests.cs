using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Ambrosia.Client;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Telemetry;
using Ambrosia.Hosting.Tests.Running;
using Ambrosia.Log.Files;

namespace Ambrosia.Hosting.Tests.Telemetry;

/// <summary>The meter's values are those of the status, and its instruments are those of docs/telemetry.md.</summary>
[Collection(nameof(Shop))]
public sealed partial class MeterTests
{
    [Fact]
    public async Task Values_AtRest_AreThoseOfTheStatus()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        for (int i = 0; i < 10; i++) await host.Shop.SellAsync("tea");
        long durable = 0;
        Dictionary<string, double> values = [];
        KeyValuePair<string, double>[] told = [];
        ReplicaStatus status = host.Replica.Now!;
        await RunningHost.Until(() => // the mark behind the last record is durable, and a digest of what rests; nothing more is coming
        {
            long before = durable;
            (values, status) = (Collect(), host.Replica.Now!);
            told = [.. Told(logs.Path)];
            durable = status.Durable;
            return Task.FromResult(
                before == durable && status.IsCaughtUp && status.Number("log", "tail") == durable
                && told.Any(each => each.Key == "ambrosia.log.durable" && each.Value == durable));
        });
        Assert.Equal(MetricCatalog.All.Select(static metric => metric.Name).Except(["ambrosia.outbox.kept", "ambrosia.outbox.calls",
            "ambrosia.link.open", "ambrosia.link.stopped", "ambrosia.checkpoint.age"]).Order(),
            values.Keys.Select(static key => key.Split('|')[0]).Distinct().Except(["ambrosia.outbox.kept", "ambrosia.outbox.calls"]).Order());
        Assert.Equal(told, values.Where(static each => each.Key != "ambrosia.disk.free").OrderBy(static each => each.Key));
        Assert.Equal((status.Durable, status.Executed), (values["ambrosia.log.durable"], values["ambrosia.log.executed"]));
        Assert.Equal(0, values["ambrosia.executed.lag"]);
        Assert.Equal(0, values["ambrosia.executed.age"]);
        Assert.Equal((1, 0), (values["ambrosia.role|primary"], values["ambrosia.role|recovering"]));
        Assert.True(values["ambrosia.log.flushes"] > 0 && values["ambrosia.disk.free"] > 0);
    }

    [Fact]
    public async Task Values_OfWhatIsWaitedFor_AreCountedWhereTheImmortalRuns()
    {
        using var logs = new TemporaryDirectory();
        Shop.Waiting = new TaskCompletionSource();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path, ("Ambrosia:DrainWithin", "1s"));
        Task<long> waiting = host.Shop.WaitAsync();
        Task<long>[] naps = [host.Shop.NapAsync(3600), host.Shop.NapAsync(7200)];
        await host.Shop.SellAsync("tea");
        await RunningHost.Until(() => Task.FromResult(Waits(Collect()) == (3, 2, 1)), () => $"{Waits(Collect())}");
        Shop.Waiting.SetResult();
        await waiting;
        await RunningHost.Until(() => Task.FromResult(Waits(Collect()) == (2, 2, 0)), () => $"{Waits(Collect())}");
        Assert.All(naps, static nap => Assert.False(nap.IsCompleted));
        await host.StopAsync();
        foreach (Task<long> nap in naps) await Assert.ThrowsAsync<OutcomeUnknownException>(() => nap);
    }

    /// <summary>The end of a host takes a checkpoint, whose age the next one tells.</summary>
    [Fact]
    public async Task CheckpointAge_BehindAStart_IsThatOfTheCheckpointFound()
    {
        using var logs = new TemporaryDirectory();
        await using (RunningHost host = await RunningHost.StartAsync(logs.Path))
        {
            await host.Shop.SellAsync("tea");
            Assert.DoesNotContain("ambrosia.checkpoint.age", Collect().Keys);
        }
        await using RunningHost again = await RunningHost.StartAsync(logs.Path);
        await again.UntilReady();
        Assert.InRange(Collect()["ambrosia.checkpoint.age"], 0, 86_400);
        Assert.Equal(again.Replica.Now!.Number("checkpoint", "ageMs") / 1000.0, again.Replica.Now.CheckpointAge!.Value.TotalSeconds);
    }

    /// <summary>
    /// What the replica tells whoever asks for its status, as a tool does; of the disk's free bytes others may take some meanwhile.
    /// </summary>
    private static IEnumerable<KeyValuePair<string, double>> Told(string logs)
    {
        var status = new ReplicaStatus(AdminClient.Ask(new PosixFileSystem(), Path.Combine(logs, "shop"), "r0",
            new JsonObject { ["command"] = "status" }, TimeSpan.FromSeconds(30)).First());
        return MetricCatalog.All.Where(static metric => metric.Name != "ambrosia.disk.free").SelectMany(metric => metric.Read(status)
            .Select(value => KeyValuePair.Create(value.Tag is { } tag ? $"{metric.Name}|{tag.Value}" : metric.Name, value.Value)))
            .OrderBy(static each => each.Key);
    }

    private static (double Suspended, double Timers, double Tasks) Waits(Dictionary<string, double> values) => (
        values.GetValueOrDefault("ambrosia.suspended"), values.GetValueOrDefault("ambrosia.timers"),
        values.GetValueOrDefault("ambrosia.tasks"));

    /// <summary>A hundred peers: the first have values of their own, the others one.</summary>
    [Fact]
    public void Values_OfManyPeers_AreBounded()
    {
        var status = new ReplicaStatus(new JsonObject
        {
            ["outboxes"] = new JsonArray([.. Enumerable.Range(0, 100).Select(static i =>
                (JsonNode)new JsonObject { ["to"] = $"p{i}", ["calls"] = 2, ["keptBytes"] = 3 })]),
        });
        MetricValue[] values = [.. MetricCatalog.All.Single(static metric => metric.Name == "ambrosia.outbox.kept").Read(status)];
        Assert.Equal(MetricCatalog.PeersMax + 1, values.Length);
        Assert.Equal((3.0 * 36, "other"), (values[^1].Value, values[^1].Tag!.Value.Value));
    }

    [Fact]
    public void Catalog_InTheDocument_IsThatOfTheCode()
    {
        string document = File.ReadAllText(Path.Combine(RepositoryRoot(), "docs", "telemetry.md"));
        Assert.Equal(
            MetricCatalog.All.Select(static metric => (metric.Name, metric.Kind.ToString().ToLowerInvariant(), metric.Unit)),
            Row().Matches(document).Select(static row => (row.Groups[1].Value, row.Groups[2].Value, row.Groups[3].Value)));
        Assert.Equal(("ambrosia.x.y", "gauge", "By"), Row().Matches("| `ambrosia.x.y` | gauge | `By` | means | alert |\n")
            .Select(static row => (row.Groups[1].Value, row.Groups[2].Value, row.Groups[3].Value)).Single());
    }

    private static Dictionary<string, double> Collect()
    {
        var values = new ConcurrentDictionary<string, double>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument.Meter.Name == MetricCatalog.MeterName) listener.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) =>
        {
            string key = instrument.Name;
            foreach (KeyValuePair<string, object?> tag in tags)
                if (tag.Key is not ("ambrosia.instance" or "ambrosia.replica")) key += $"|{tag.Value}";
            values[key] = value;
        });
        listener.Start();
        listener.RecordObservableInstruments();
        return new Dictionary<string, double>(values);
    }

    private static string RepositoryRoot()
    {
        string root = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln"))) root = Path.GetDirectoryName(root)!;
        return root;
    }

    [GeneratedRegex(@"^\| `(ambrosia\.[a-z.]+)` \| (counter|gauge) \| `([^`]+)` \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
