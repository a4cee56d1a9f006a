using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>Everything that one replica is made from, apart from its log and its wires.</summary>
internal sealed record CoordinatorInputs(
    CoordinatorOptions Options, InstanceIdentity Identity, IFileSystem Files, ReadOnlyMemory<byte> AppToken, TimeProvider Time,
    Func<double> Random, IPumps Pumps)
{
    /// <summary>A stretch is executed again, to be looked at; null: the replica lives.</summary>
    public Retrial? Retrial { get; init; }
}
