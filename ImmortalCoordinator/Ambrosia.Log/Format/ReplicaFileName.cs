using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary><c>replica.&lt;name&gt;</c>, held by the lock of the replica of that name (log-format L7.7).</summary>
internal readonly record struct ReplicaFileName(string Replica)
{
    public static ReplicaFileName? TryParse(string name)
    {
        string[] parts = name.Split('.');
        return parts is ["replica", var replica] && Names.IsValid(replica) ? new ReplicaFileName(replica) : null;
    }

    public override string ToString() => $"replica.{Replica}";
}
