namespace Ambrosia.Perf;

/// <summary>What <c>catalog</c> measured, in microseconds a call.</summary>
/// <param name="Publish">An entry that has changed, each with a higher epoch.</param>
/// <param name="Again">The same entry once more, as with every heartbeat.</param>
/// <param name="Find">One entry.</param>
/// <param name="Epochs">The epochs of all instances.</param>
internal sealed record CatalogResult(string Place, int Instances, Latencies Publish, Latencies Again, Latencies Find, Latencies Epochs);
