using System.Globalization;
using Ambrosia.Hosting.Replicas;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting.Health;

/// <summary>
/// Judges replicas by whether they get on, and not by whether they are there. It keeps nothing: what it says follows from what the replica
/// says of itself.
/// </summary>
internal static class ReplicaHealth
{
    /// <summary>Below this the log has hardly room for its next files.</summary>
    internal const long FreeBytesMin = 512L << 20;

    /// <summary>Says what is not as it should be although the replica works; in order, and empty if there is nothing.</summary>
    internal static IEnumerable<string> Concerns(ReplicaStatus status, HostedReplica replica, TimeSpan behindMax)
    {
        if (Recovering(status, replica) is { } recovering) yield return recovering;
        else if (status.UnexecutedAge > behindMax)
            yield return $"the oldest record that is not executed is {Seconds(status.UnexecutedAge)} s old, and {status.Lag} bytes are behind it";
        if (status.WaitsForApp is { } wait) yield return $"the app is waited for ({wait.For}) since {wait.Seconds} s";
        if (status.OutputsWait)
        {
            (string to, _, long kept) = status.Outboxes.MaxBy(static outbox => outbox.KeptBytes);
            yield return $"outputs wait: {kept} bytes are kept for {to}, which takes none";
        }
        if (status.FreeBytes < FreeBytesMin) yield return $"the log's disk has {status.FreeBytes} bytes left";
        foreach ((string peer, string state, string? why) in status.Links)
            if (state == "stopped") yield return $"the link to {peer} is stopped: {why}";
        if (status.Quarantined > 0) yield return $"{status.Quarantined} messages or tasks are in quarantine";
    }

    /// <summary>Says how far the execution of the log has come; null: it is where it should be.</summary>
    internal static string? Recovering(ReplicaStatus status, HostedReplica replica)
    {
        if (status.Role == "waiting") return $"it waits: {status.WaitsBecause ?? "another coordinator has its log"}";
        if (status.IsPrimary || (status.Role == "secondary" && status.IsCaughtUp)) return null;
        string at = $"recovering at {status.Executed} of {status.Durable}";
        return replica.BytesPerSecond is { } rate and > 0
            ? string.Create(CultureInfo.InvariantCulture, $"{at}, {rate:F0} bytes/s, {status.Lag / rate:F0} s left") : at;
    }

    /// <summary>Adds the numbers that a report shows beside the words.</summary>
    internal static void AddData(ReplicaStatus status, HostedReplica replica, Dictionary<string, object> data)
    {
        string name = status.Instance;
        data[$"{name}.role"] = status.Role;
        data[$"{name}.executed"] = status.Executed;
        data[$"{name}.durable"] = status.Durable;
        data[$"{name}.lagBytes"] = status.Lag;
        data[$"{name}.unexecutedSeconds"] = status.UnexecutedAge.TotalSeconds;
        data[$"{name}.quarantined"] = status.Quarantined;
        if (replica.BytesPerSecond is { } rate) data[$"{name}.bytesPerSecond"] = rate;
    }

    internal static HealthCheckResult Result(HealthStatus worst, List<string> words, Dictionary<string, object> data) =>
        new(worst, words.Count == 0 ? null : string.Join("; ", words), null, data);

    private static string Seconds(TimeSpan time) => time.TotalSeconds.ToString("F1", CultureInfo.InvariantCulture);
}
