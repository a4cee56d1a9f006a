using System.Globalization;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Running;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Health;

/// <summary>
/// Says no when a pump hangs, so that starting the process again may help. It asks neither the disk nor the network, and a log that is
/// executed again, however long, is no reason. What else is not as it should be makes it say degraded, as far as that is known. Any thread.
/// </summary>
internal sealed class LiveCheck(ImmortalsService immortals) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var words = new List<string>();
        var data = new Dictionary<string, object>();
        HealthStatus worst = HealthStatus.Healthy;
        foreach (HostedReplica replica in immortals.Replicas)
        {
            if (replica.Last is { } status)
            {
                words.AddRange(ReplicaHealth.Concerns(status, replica, immortals.Options.DegradedBehind)
                    .Select(concern => $"{replica.Name}: {concern}"));
                ReplicaHealth.AddData(status, replica, data);
            }
            if (worst == HealthStatus.Healthy && words.Count > 0) worst = HealthStatus.Degraded;
            (string Pump, TimeSpan Lasts)[] hanging = [.. replica.Hanging];
            if (hanging.Length > 0) worst = HealthStatus.Unhealthy;
            words.InsertRange(0, hanging.Select(one => string.Create(CultureInfo.InvariantCulture,
                $"{replica.Name}: its pump '{one.Pump}' has been at one piece of work for {one.Lasts.TotalSeconds:F1} s")));
        }
        return Task.FromResult(ReplicaHealth.Result(worst, words, data));
    }
}
