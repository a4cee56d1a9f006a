namespace Ambrosia.Log;

/// <summary>Life of a page of the pool; only the pool changes it, under its lock, and each page goes through it in this order.</summary>
internal enum PagePhase
{
    /// <summary>Holds nothing.</summary>
    Free,

    /// <summary>Takes writers. At most one page.</summary>
    Open,

    /// <summary>In the queue of the committer; writers may still be inside.</summary>
    Sealed,

    /// <summary>In the commit group.</summary>
    Committing,

    /// <summary>On disk, and still readable here until it is opened again.</summary>
    Durable,
}
