using System.Diagnostics.Metrics;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Running;
using Microsoft.Extensions.Hosting;

namespace Ambrosia.Hosting.Telemetry;

/// <summary>
/// The meter <c>Ambrosia</c>. All its instruments are observed: while nobody listens they cost nothing, and a listener makes the replicas
/// be asked for their status when it collects. The host starts it and disposes of it; any thread collects.
/// </summary>
internal sealed class ReplicaMeter(ImmortalsService immortals, IMeterFactory meters) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        Meter meter = meters.Create(MetricCatalog.MeterName, typeof(ReplicaMeter).Assembly.GetName().Version?.ToString(3));
        foreach (ReplicaMetric metric in MetricCatalog.All) metric.AddTo(meter, Statuses);
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private IEnumerable<ReplicaStatus> Statuses() => immortals.Replicas.Select(static replica => replica.Now).OfType<ReplicaStatus>();
}
