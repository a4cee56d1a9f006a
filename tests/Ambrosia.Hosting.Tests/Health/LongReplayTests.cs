using System.Collections.Concurrent;
using Ambrosia.Client;
using Ambrosia.Hosting.Tests.Running;
using Ambrosia.TestKit;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Tests.Health;

/// <summary>However long a log is that a host executes again, each of its pieces is one of work: <c>live</c> never says no.</summary>
[Collection(nameof(Shop))]
public sealed class LongReplayTests
{
    private const int AtOnce = 1000, Parcel = 1 << 20, ParcelsAtOnce = 32;
    private const long LongLog = 64L << 30;

    private static readonly (string, string)[] s_keepsAll = [("Ambrosia:CheckpointEvery", "1024G"), ("Ambrosia:Retain", "all")];

    [Fact]
    public async Task Live_WhileManyCallsAreExecutedAgain_NeverSaysNo()
    {
        int calls = TestScale.Rounds(200_000);
        using var logs = new TemporaryDirectory();
        await Fill(logs.Path, async shop =>
        {
            for (int sold = 0; sold < calls; sold += AtOnce)
                await Task.WhenAll(Enumerable.Range(0, Math.Min(AtOnce, calls - sold)).Select(_ => shop.SellAsync("tea")));
        });
        await ExecuteAgain(logs.Path, async shop => Assert.Equal(calls, (await shop.SoldAsync()).Value));
    }

    [LongLogFact(LongLog)]
    public async Task Live_While64GiBAreExecutedAgain_NeverSaysNo()
    {
        using var logs = new TemporaryDirectory();
        byte[] parcel = new byte[Parcel];
        new Random(64).NextBytes(parcel);
        await Fill(logs.Path, async shop =>
        {
            for (long written = 0; written < LongLog; written += ParcelsAtOnce * (long)Parcel)
                await Task.WhenAll(Enumerable.Range(0, ParcelsAtOnce).Select(_ => shop.StoreAsync(parcel)));
        });
        await ExecuteAgain(logs.Path, async shop => Assert.Equal(LongLog, (await shop.StoredAsync()).Value));
    }

    /// <summary>Leaves a log behind that no checkpoint shortens.</summary>
    private static async Task Fill(string logs, Func<ClientProxy<IShop>, Task> work)
    {
        await using (RunningHost host = await RunningHost.StartAsync(logs, s_keepsAll)) await work(host.Shop);
        foreach (string checkpoint in Directory.GetFiles(Path.Combine(logs, "shop"), "*ckpt*")) File.Delete(checkpoint);
    }

    private static async Task ExecuteAgain(string logs, Func<ClientProxy<IShop>, Task> check)
    {
        await using RunningHost again = await RunningHost.StartAsync(logs, s_keepsAll);
        var said = new ConcurrentQueue<string>();
        await RunningHost.Until(async () =>
        {
            if (await again.CheckAsync("live") is { Status: HealthStatus.Unhealthy } live) said.Enqueue(live.Description!);
            return (await again.CheckAsync("ready")).Status != HealthStatus.Unhealthy;
        }, within: TimeSpan.FromMinutes(20));
        Assert.Empty(said);
        await check(again.Shop);
    }

    /// <summary>A test that fills a disk, for releases on machines that have one.</summary>
    private sealed class LongLogFactAttribute : FactAttribute
    {
        private const long Spare = 4L << 30;

        public LongLogFactAttribute(long bytes)
        {
            if (TestScale.Value < 1) Skip = $"it writes {bytes >> 30} GiB: {TestScale.Variable}=1";
            else if (new DriveInfo(Path.GetTempPath()).AvailableFreeSpace < bytes + Spare)
                Skip = $"the disk of {Path.GetTempPath()} has less than {(bytes + Spare) >> 30} GiB free";
        }
    }
}
