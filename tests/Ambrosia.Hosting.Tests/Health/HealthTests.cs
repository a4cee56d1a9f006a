using Ambrosia.Hosting.Tests.Running;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Tests.Health;

/// <summary>What the health checks say of a replica that gets on, and of one that does not.</summary>
[Collection(nameof(Shop))]
public sealed class HealthTests
{
    [Fact]
    public async Task Checks_OfAReadyHost_AreHealthy()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        await host.Shop.SellAsync("tea");
        foreach (string tag in new[] { "startup", "live", "ready" })
        {
            HealthReportEntry entry = await host.CheckAsync(tag);
            Assert.True(entry.Status == HealthStatus.Healthy, $"{tag}: {entry.Description}");
        }
        Assert.Equal("primary", (await host.CheckAsync("ready")).Data["shop.role"]);
    }

    /// <summary>A handler hangs while the log is executed again: the host can answer nothing, and a new start would not help.</summary>
    [Fact]
    public async Task Recovery_ThatTakesLong_IsNotReadyAndLive()
    {
        using var logs = new TemporaryDirectory();
        await using (RunningHost host = await RunningHost.StartAsync(logs.Path, ("Ambrosia:StopWithin", "1s")))
        {
            await host.Shop.HangAsync();
        }
        foreach (string checkpoint in Directory.GetFiles(Path.Combine(logs.Path, "shop"), "*ckpt*")) File.Delete(checkpoint);
        Shop.MayEnd.Reset();
        try
        {
            await using RunningHost host = await RunningHost.StartAsync(
                logs.Path, ("Ambrosia:HangLimit", "0.5"), ("Ambrosia:StopWithin", "1s"), ("Ambrosia:DrainWithin", "1s"));
            await RunningHost.Until(() => Task.FromResult(host.Replica.Now is { IsPrimary: false } now && now.UnexecutedAge.TotalSeconds > 2),
                () => string.Join('\n', host.Logs.Lines));
            HealthReportEntry ready = await host.CheckAsync("ready"), live = await host.CheckAsync("live"),
                startup = await host.CheckAsync("startup");
            Assert.Equal((HealthStatus.Unhealthy, HealthStatus.Unhealthy, HealthStatus.Degraded), (ready.Status, startup.Status, live.Status));
            Assert.Contains("shop: recovering at ", ready.Description, StringComparison.Ordinal);
            Assert.Contains("shop: recovering at ", live.Description, StringComparison.Ordinal);
            Assert.NotEqual("primary", live.Data["shop.role"]);
            Shop.MayEnd.Set();
            await host.UntilReady();
        }
        finally
        {
            Shop.MayEnd.Set();
        }
    }
}
