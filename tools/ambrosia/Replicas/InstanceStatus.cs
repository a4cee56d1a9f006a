using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Pumps;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>One instance of a catalog and its replicas that answer on this machine.</summary>
/// <param name="Problem">Why it does not work, as seen from here; null: it has a primary.</param>
internal sealed record InstanceStatus(string Instance, string Log, IReadOnlyList<ReplicaStatus> Replicas, string? Problem)
{
    /// <summary>Asks everybody twice: what anyone knew to be durable at the first time is what all are measured by at the second.</summary>
    public static InstanceStatus Read(IFileSystem files, string instance, string log)
    {
        if (!Directory.Exists(log)) return new InstanceStatus(instance, log, [], $"its log {log} cannot be reached from here");
        IReadOnlyList<string> named = AdminClient.Replicas(files, log);
        ulong durable = named.Select(replica => ReplicaStatus.Number(AdminCall.Status(files, log, replica)?["log"], "durable") ?? 0)
            .DefaultIfEmpty().Max();
        var replicas = new List<ReplicaStatus>();
        foreach (string replica in named)
            if (AdminCall.Status(files, log, replica) is JsonObject status)
                replicas.Add(ReplicaStatus.Of(instance, replica, status, durable));
        string? problem = replicas.Count == 0 ? "no replica answers on this machine" : replicas.Any(static r => r.HasRoleOfPrimary()) ? null
            : "no replica is primary";
        return new InstanceStatus(instance, log, replicas, problem);
    }
}
