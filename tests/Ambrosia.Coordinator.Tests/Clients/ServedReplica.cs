using Ambrosia.Coordinator.Clients;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The replica that callers speak to; the test says how it stands.</summary>
internal sealed class ServedReplica(Epoch epoch) : IClientReplica
{
    public Epoch Epoch => epoch;

    public bool IsPrimary { get; set; } = true;

    public ulong Lag { get; set; }

    public Lsn DeliveredTo { get; set; }
}
