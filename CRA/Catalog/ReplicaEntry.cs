using Ambrosia.Protocol;

namespace CRA.Catalog;

/// <summary>It holds what the catalog knows of one replica of an instance, above all where it is (protocol P8.1).</summary>
/// <param name="Name">Name of the replica (protocol P1.5).</param>
/// <param name="Address">IP address and port of its link listener, for instance "127.0.0.1:4711".</param>
/// <param name="Role">Role at the moment, a word for people and tools.</param>
/// <param name="Epoch">Epoch in which the replica stated this role.</param>
public sealed record ReplicaEntry(string Name, string Address, string Role, Epoch Epoch);
