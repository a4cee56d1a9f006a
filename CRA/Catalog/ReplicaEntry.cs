using Ambrosia.Protocol;

namespace CRA;

/// <summary>Where one replica of an instance is (protocol P8.1).</summary>
/// <param name="Name">Replica name, protocol P1.5.</param>
/// <param name="Address">IP address and port of its link listener, for instance "127.0.0.1:4711".</param>
/// <param name="Role">What it is at the moment, a word for people and tools.</param>
/// <param name="Epoch">The epoch in which it said so.</param>
public sealed record ReplicaEntry(string Name, string Address, string Role, Epoch Epoch);
