using Ambrosia.Log.Commit;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.LogFeed;

/// <summary>What the pump that steps a committer is to do next.</summary>
internal enum CommitStep { Again, Spin, Park }

/// <summary>
/// The order in which pages become durable (log-format L7.2): write, flush, fence check, and only then does anyone hear of it. One step
/// at a time, so that a simulator may let anything happen in between. One thread at a time; the pump sees to it.
/// </summary>
internal sealed class Committer(LogWriter log, Action<Lsn> durableAdvanced)
{
    private enum Stage { Begin, Rotate, Write, Flush, Check, Complete }

    private CommitGroup? _group;
    private Stage _stage;
    private volatile bool _isUnderWay;

    /// <summary>A group is being written, flushed or checked. Any thread.</summary>
    public bool IsUnderWay => _isUnderWay;

    /// <summary>Pages wait until a place is prepared for them: whoever prepares is not to rest.</summary>
    public bool IsAwaitingSpace => log.IsAwaitingSpace;

    public CommitStep Step()
    {
        switch (_stage)
        {
            case Stage.Begin: return Begin();
            case Stage.Rotate: _group!.Rotate(); _stage = Stage.Write; break;
            case Stage.Write: _group!.Write(); _stage = Stage.Flush; break;
            case Stage.Flush: _group!.Flush(); _stage = Stage.Check; break;
            case Stage.Check: _group!.CheckFence(); _stage = Stage.Complete; break;
            case Stage.Complete:
                log.Complete(_group!);
                _group = null;
                _isUnderWay = false;
                _stage = Stage.Begin;
                LockChecks.BeforeCallOut();
                durableAdvanced(log.Durable);
                break;
        }
        return CommitStep.Again;
    }

    private CommitStep Begin()
    {
        switch (log.Begin(out _group))
        {
            case CommitReadiness.Nothing or CommitReadiness.AwaitingSpace: return CommitStep.Park;
            case CommitReadiness.WritersInside: return CommitStep.Spin;
            case CommitReadiness.Busy: throw new InvalidOperationException("two committers step at once");
            default:
                _isUnderWay = true;
                _stage = _group!.NeedsRotation ? Stage.Rotate : Stage.Write;
                return CommitStep.Again;
        }
    }
}
