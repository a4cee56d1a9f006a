namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Keeps the garbage of a coordinator that has its process to itself within a few MiB. The runtime lets as much of it come together as the
/// processor's cache is large, which can be more than all that is alive; here little is made (none for messages), and little is alive, so a
/// collection takes well below a millisecond. One thread uses it.
/// </summary>
internal sealed class GarbageBound
{
    private const long BytesMax = 4L << 20;

    private long _allocatedThen;
    private int _collections = -1;

    /// <summary>Collects if more than the bound was allocated since the last collection, whoever made that.</summary>
    public void Look()
    {
        int seen = GC.CollectionCount(0);
        long allocated = GC.GetTotalAllocatedBytes();
        if (seen == _collections && allocated - _allocatedThen <= BytesMax) return;
        if (seen == _collections) GC.Collect(0);
        _collections = GC.CollectionCount(0);
        _allocatedThen = allocated;
    }
}
