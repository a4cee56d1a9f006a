namespace Ambrosia.Log.Pages;

/// <summary>Says what there is to commit, and what the committer waits for when there is nothing.</summary>
public enum CommitReadiness
{
    /// <summary>There is nothing to commit. The committer waits until a writer that leaves says that it should be woken.</summary>
    Nothing,

    /// <summary>
    /// Writers are still copying into the next page. The committer waits in the same way; the last writer to leave says so.
    /// </summary>
    WritersInside,

    /// <summary>
    /// There are pages, but no zeroed space for them in a file. The committer waits until a step of preparing space has made some. Nothing
    /// is lost; writers find no room when the pages in memory are full.
    /// </summary>
    AwaitingSpace,

    /// <summary>A group is ready.</summary>
    Ready,

    /// <summary>Another thread has a group. When it has completed that, it begins again, so nothing is forgotten.</summary>
    Busy,
}
