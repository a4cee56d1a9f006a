using System.Diagnostics;
using Ambrosia.Client;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Running;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Running;

/// <summary>A host in this process with a shop in it, on a log of its own.</summary>
internal sealed class RunningHost : IAsyncDisposable
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    private readonly IHost _host;

    private RunningHost(IHost host, RecordedLogs logs) => (_host, Logs) = (host, logs);

    internal RecordedLogs Logs { get; }

    internal IServiceProvider Services => _host.Services;

    internal ClientProxy<IShop> Shop => Services.GetRequiredService<ClientProxy<IShop>>();

    internal ImmortalsService Immortals => Services.GetRequiredService<ImmortalsService>();

    internal HostedReplica Replica => Immortals.Replicas[0];

    internal static HostApplicationBuilder NewBuilder(string directory, params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(
            [new("Ambrosia:Log", directory), .. settings.Select(static each => new KeyValuePair<string, string?>(each.Key, each.Value))]);
        return builder;
    }

    internal static async Task<RunningHost> StartAsync(string directory, params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = NewBuilder(directory, settings);
        var logs = new RecordedLogs();
        builder.Logging.AddProvider(logs);
        builder.AddAmbrosia().AddImmortal<Shop>("shop");
        builder.Services.AddImmortalClient<IShop>("shop");
        builder.Services.AddScoped<Van>();
        builder.Services.AddKeyedSingleton("town", "Graz");
        builder.Services.AddHealthChecks().AddAmbrosia();
        IHost host = builder.Build();
        await host.StartAsync();
        return new RunningHost(host, logs);
    }

    internal async Task<HealthReportEntry> CheckAsync(string tag) => (await Services.GetRequiredService<HealthCheckService>()
        .CheckHealthAsync(check => check.Tags.Contains(tag))).Entries.Values.Single();

    internal Task StopAsync() => _host.StopAsync();

    /// <param name="instead">Says what is so where it does not come to hold.</param>
    /// <param name="within">A minute, unless more is said.</param>
    internal static async Task Until(Func<Task<bool>> holds, Func<string>? instead = null, TimeSpan? within = null)
    {
        TimeSpan limit = within ?? s_limit;
        long begun = Stopwatch.GetTimestamp();
        while (!await holds())
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < limit, $"not within {limit.TotalMinutes} min: {instead?.Invoke()}");
            await Task.Delay(5);
        }
    }

    internal Task UntilReady() => Until(async () => (await CheckAsync("ready")).Status != HealthStatus.Unhealthy);

    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync();
        await ((IAsyncDisposable)_host).DisposeAsync();
    }
}
