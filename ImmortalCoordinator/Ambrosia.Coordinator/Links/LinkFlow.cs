using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Flow control that all links of a replica share, and all its client sessions: it says whether anything may be sent now, has committed
/// what came in, and waits for room in the log. It owns nothing. Any thread.
/// </summary>
/// <param name="mayEmit">False while a primary is not sure that it still is one.</param>
internal sealed class LinkFlow(LogAppender log, IPumps pumps, Func<bool> mayEmit)
{
    /// <summary>False while nothing may be sent, not even a heartbeat: who is not sure of its role must not pass for alive.</summary>
    public bool MayEmit => mayEmit();

    /// <summary>Wakes the committer if records wait for it.</summary>
    /// <param name="drained">Nothing more is coming at the moment, so the commit may be made here and now.</param>
    public void WakeCommitter(bool drained)
    {
        if (log.TakeWake() || drained) pumps.Commit(drained);
    }

    /// <summary>Blocks until the log may have room.</summary>
    public void WaitForRoom(CancellationToken stop) => pumps.WaitForRoom(stop);
}
