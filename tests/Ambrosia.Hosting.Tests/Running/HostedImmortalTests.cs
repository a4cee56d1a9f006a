using Ambrosia.Client;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Running;

/// <summary>An immortal in a host: its clients, services and logs, and its end.</summary>
[Collection(nameof(Shop))]
public sealed class HostedImmortalTests
{
    [Fact]
    public async Task Client_OfTheContainer_ConnectsWithItsFirstCall()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        Assert.Equal(1, await host.Shop.WithKey("a").SellAsync("tea"));
        Assert.Equal(1, await host.Shop.WithKey("a").SellAsync("tea"));
        Assert.Equal(1, (await host.Shop.SoldAsync()).Value);
    }

    [Fact]
    public async Task Task_WithServices_HasAScopeOfItsOwnThatEndsWithIt()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        (int made, int disposed) = (Van.Made, Van.Disposed);
        Assert.Equal("tea delivered in Graz, True", await host.Shop.DeliverAsync("tea"));
        Assert.Equal("milk delivered in Graz, True", await host.Shop.DeliverAsync("milk"));
        Assert.Equal((2, 2), (Van.Made - made, Van.Disposed - disposed));
    }

    [Fact]
    public async Task Services_InAHandler_AreRefused()
    {
        using var logs = new TemporaryDirectory();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        string[] refusals = await host.Shop.MisuseAsync();
        Assert.Equal(2, refusals.Length);
        Assert.All(refusals, static refusal => Assert.StartsWith("Services are not for handlers", refusal, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Logs_EachWithItsCategory_AreSilentWhenRecordsAreExecutedAgain()
    {
        using var logs = new TemporaryDirectory();
        RecordedLogs first, second;
        await using (RunningHost host = await RunningHost.StartAsync(logs.Path))
        {
            first = host.Logs;
            await host.Shop.SellAsync("tea");
            await host.UntilReady();
        }
        Assert.Contains(first.Lines, static line => line is
            { Category: "Ambrosia.Immortal.shop", Id: { Id: 4711, Name: "shop.sold" }, Text: "tea sold, 1 by now" });
        Assert.Contains(first.Lines, static line => line is { Category: "Ambrosia.Coordinator.shop", Id.Name: "coordinator.ready" });
        foreach (string checkpoint in Directory.GetFiles(Path.Combine(logs.Path, "shop"), "*ckpt*")) File.Delete(checkpoint);
        await using (RunningHost host = await RunningHost.StartAsync(logs.Path))
        {
            second = host.Logs;
            Assert.Equal(2, await host.Shop.SellAsync("milk"));
        }
        Assert.Contains(second.Lines, static line => line.Text == "milk sold, 2 by now");
        Assert.DoesNotContain(second.Lines, static line => line.Text.StartsWith("tea sold", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Stop_WithACallerThatWaits_AnswersItFirst()
    {
        using var logs = new TemporaryDirectory();
        Shop.Waiting = new TaskCompletionSource();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path);
        Task<long> waiting = host.Shop.WaitAsync();
        await RunningHost.Until(() => Task.FromResult(host.Replica.Now is { } now && now.Executed > 0 && now.IsCaughtUp));
        await host.UntilReady();
        await host.Shop.SellAsync("tea"); // behind it in the log, so the other one is executed
        Task stopping = host.StopAsync();
        await RunningHost.Until(async () => (await host.CheckAsync("ready")).Status == HealthStatus.Unhealthy);
        Assert.False(waiting.IsCompleted);
        Shop.Waiting.SetResult();
        Assert.Equal(7, await waiting);
        await stopping;
    }

    [Fact]
    public async Task Stop_WithACallerThatWaitsForTooLong_EndsAllTheSame()
    {
        using var logs = new TemporaryDirectory();
        Shop.Waiting = new TaskCompletionSource();
        await using RunningHost host = await RunningHost.StartAsync(logs.Path, ("Ambrosia:DrainWithin", "1s"));
        Task<long> waiting = host.Shop.WaitAsync();
        await host.UntilReady();
        await host.Shop.SellAsync("tea");
        await host.StopAsync();
        await Assert.ThrowsAsync<OutcomeUnknownException>(() => waiting); // the task's result is another start's
    }
}

/// <summary>The tests whose immortal waits for what is static do not run side by side.</summary>
[CollectionDefinition(nameof(Shop))]
public sealed class ShopCollection;
