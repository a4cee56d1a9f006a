using Ambrosia.Coordinator.Hosting;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Tests.Running;
using Ambrosia.TestKit;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Tests.Health;

/// <summary>A pump that hangs is found, whichever it is, and a pump that only has much to do is none.</summary>
[Collection(nameof(Shop))]
public sealed class LivenessTests
{
    private const string HangLimit = "Ambrosia:HangLimit";

    /// <summary>Those of a replica that runs by itself; that of a secondary has a test of its own.</summary>
    private static readonly string[] s_pumps =
        ["fence", "ticks", "space", "commit", "timers", "checkpoint", "dial", "app-in", "app-out", "link-in", "link-out"];

    /// <summary>Whoever asks once in a hang limit knows of it within three.</summary>
    [Fact]
    public void Pump_ThatHangs_IsFoundBehindTwoHangLimits()
    {
        var time = new FakeTime();
        TimeSpan limit = TimeSpan.FromSeconds(4);
        var progress = new PumpProgress(time);
        var replica = new HostedReplica("shop", static () => null, time) { Progress = progress, HangsAfter = 2 * limit };
        using PumpWork one = progress.Enter("one"), other = progress.Enter("other");
        one.Begin();
        time.Advance(limit);
        other.Begin();
        time.Advance(limit);
        Assert.Empty(replica.Hanging);
        time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(["one"], replica.Hanging.Select(static each => each.Pump));
        time.Advance(limit);
        Assert.Equal(["one", "other"], replica.Hanging.Select(static each => each.Pump));
        one.Begin(); // it goes on
        other.End();
        Assert.Empty(replica.Hanging);
    }

    [Fact]
    public async Task Live_WithAnyPumpThatHangs_SaysNoAndNamesIt()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path, (HangLimit, "0.2"));
        await host.Shop.SellAsync("tea");
        foreach (string pump in s_pumps)
        {
            using (var planted = new PlantedHang(host.Replica.Progress!, pump))
            {
                // Something for each of them to do; with keys, since a connection whose pump hangs for long is made anew.
                Task working = Task.WhenAll(
                    host.Shop.WithKey($"sell {pump}").SellAsync("tea"), host.Shop.WithKey($"nap {pump}").NapAsync(1));
                await RunningHost.Until(async () => (await Live(host)) is { Status: HealthStatus.Unhealthy } live
                    && live.Description!.Contains($"shop: its pump '{pump}' has been at one piece of work", StringComparison.Ordinal),
                    () => $"{pump} was not found");
                planted.Dispose();
                await working;
            }
            await RunningHost.Until(async () => (await Live(host)).Status != HealthStatus.Unhealthy, () => $"{pump} goes on");
        }
    }

    [Fact]
    public async Task Live_WithASecondaryThatFollowsNoMore_SaysNo()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        await host.UntilReady();
        await using RunningHost standby = await RunningHost.StartAsync(logs.Path, (HangLimit, "0.2"), ("Ambrosia:Replica", "r1"));
        await RunningHost.Until(async () => (await standby.CheckAsync("startup")).Status == HealthStatus.Healthy);
        using var planted = new PlantedHang(standby.Replica.Progress!, "follow");
        await RunningHost.Until(async () => (await Live(standby)) is { Status: HealthStatus.Unhealthy } live
            && live.Description!.Contains("shop: its pump 'follow'", StringComparison.Ordinal));
        Assert.NotEqual(HealthStatus.Unhealthy, (await Live(host)).Status);
    }

    private static Task<HealthReportEntry> Live(RunningHost host) => host.CheckAsync("live");

    /// <summary>Holds one pump at its next piece of work, until it is disposed of.</summary>
    private sealed class PlantedHang : IDisposable
    {
        private readonly ManualResetEventSlim _isOver = new(false);
        private readonly PumpProgress _progress;

        internal PlantedHang(PumpProgress progress, string pump)
        {
            _progress = progress;
            progress.Began = name =>
            {
                if (name == pump) _isOver.Wait(TimeSpan.FromMinutes(2));
            };
        }

        public void Dispose()
        {
            _progress.Began = null;
            _isOver.Set();
        }
    }
}
