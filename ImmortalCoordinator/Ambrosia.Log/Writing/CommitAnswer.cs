namespace Ambrosia.Log;

/// <summary>What there is to commit.</summary>
public enum CommitAnswer
{
    /// <summary>Nothing: wait until a <see cref="LogWriter.Leave"/> says that the committer should be woken.</summary>
    Nothing,

    /// <summary>Writers are still copying into the next page: wait in the same way; the last one to leave says so.</summary>
    WritersInside,

    /// <summary>
    /// There are pages, and no space set aside for them, or none that is zeroed: wait until a step of <see cref="LogWriter.PrepareSpace"/>
    /// has made some. Nothing is lost; writers find no room when the pages in memory are full.
    /// </summary>
    AwaitingSpace,

    /// <summary>A group is ready.</summary>
    Ready,

    /// <summary>Another thread has a group; when it has completed that, it begins again, so nothing is forgotten.</summary>
    Busy,
}
