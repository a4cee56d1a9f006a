using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What the pump that steps a committer is to do next.</summary>
internal enum CommitStep { Again, Spin, Park }

/// <summary>
/// The order in which pages become durable (log-format L7.2): write, flush, fence check, and only then does anyone hear of it. One step
/// at a time, so that a simulator may let anything happen in between. One thread at a time; the pump sees to it.
/// </summary>
internal sealed class Committer(LogWriter log, Action<Lsn> durableAdvanced)
{
    private enum Stage { Begin, Rotate, Write, Flush, Check, Complete }

    private CommitGroup? group;
    private Stage stage;
    private volatile bool isUnderWay;

    /// <summary>A group is being written, flushed or checked. Any thread.</summary>
    public bool IsUnderWay => isUnderWay;

    /// <summary>Pages wait until a place is prepared for them: whoever prepares is not to rest.</summary>
    public bool IsAwaitingSpace => log.IsAwaitingSpace;

    public CommitStep Step()
    {
        switch (stage)
        {
            case Stage.Begin: return Begin();
            case Stage.Rotate: group!.Rotate(); stage = Stage.Write; break;
            case Stage.Write: group!.Write(); stage = Stage.Flush; break;
            case Stage.Flush: group!.Flush(); stage = Stage.Check; break;
            case Stage.Check: group!.CheckFence(); stage = Stage.Complete; break;
            case Stage.Complete:
                log.Complete(group!);
                group = null;
                isUnderWay = false;
                stage = Stage.Begin;
                durableAdvanced(log.Durable);
                break;
        }
        return CommitStep.Again;
    }

    private CommitStep Begin()
    {
        switch (log.Begin(out group))
        {
            case CommitAnswer.Nothing or CommitAnswer.AwaitingSpace: return CommitStep.Park;
            case CommitAnswer.WritersInside: return CommitStep.Spin;
            case CommitAnswer.Busy: throw new InvalidOperationException("two committers step at once");
            default:
                isUnderWay = true;
                stage = group!.NeedsRotation ? Stage.Rotate : Stage.Write;
                return CommitStep.Again;
        }
    }
}
