using Ambrosia.Hosting.Replicas;
using Ambrosia.Hosting.Running;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Health;

/// <summary>
/// Says yes while every immortal of the host can answer: it is primary, and has executed what the log held. The check for the start says
/// yes for a secondary that has caught up, too. From the moment that the host is asked to stop this one says no. Any thread.
/// </summary>
/// <param name="isForStart">It is the check for the start.</param>
internal sealed class ReadyCheck(ImmortalsService immortals, bool isForStart) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var words = new List<string>();
        var data = new Dictionary<string, object>();
        HealthStatus worst = HealthStatus.Healthy;
        if (!isForStart && immortals.IsStopping) (worst, words) = (HealthStatus.Unhealthy, ["the host stops"]);
        if (immortals.Replicas.Count == 0) (worst, words) = (HealthStatus.Unhealthy, ["no immortal has begun"]);
        foreach (HostedReplica replica in immortals.Replicas)
        {
            ReplicaStatus? status = replica.Now;
            if (status is not null) ReplicaHealth.AddData(status, replica, data);
            if (WhyNot(status, replica) is { } why)
            {
                worst = HealthStatus.Unhealthy;
                words.Add($"{replica.Name}: {why}");
                continue;
            }
            if (isForStart) continue;
            string[] concerns = [.. ReplicaHealth.Concerns(status!, replica, immortals.Options.DegradedBehind)];
            words.AddRange(concerns.Select(concern => $"{replica.Name}: {concern}"));
            if (concerns.Length > 0 && worst == HealthStatus.Healthy) worst = HealthStatus.Degraded;
        }
        return Task.FromResult(ReplicaHealth.Result(worst, words, data));
    }

    private string? WhyNot(ReplicaStatus? status, HostedReplica replica)
    {
        if (status is null) return "its coordinator does not say how it is";
        if (status.IsPrimary) return null;
        if (isForStart && status.Role == "secondary" && status.IsCaughtUp) return null;
        return ReplicaHealth.Recovering(status, replica) ?? $"it is {status.Role}, and another replica answers";
    }
}
