using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Logs what the app's tasks have computed (protocol P5.15). While an upgrade has shut the log's doors it keeps results, up to a bound: the
/// app's stream must go on, since the state that is converted comes behind them. The thread that reads the app adds, any thread logs what
/// was kept; one lock.
/// </summary>
/// <param name="messageBytesMax">Longest result that is taken.</param>
internal sealed class TaskResultLog(LogAppender log, uint messageBytesMax)
{
    private const int KeptBytesMax = 4 << 20;

    private readonly RankedLock _gate = new(LockRank.TaskResultLog);
    private readonly Queue<byte[]> _kept = new();
    private int _keptBytes;

    /// <summary>False: no room in the log now; the same frame comes again.</summary>
    public bool TryAppend(ReadOnlySpan<byte> payload)
    {
        ReadOnlySpan<byte> body = TaskResult.Read(payload, messageBytesMax);
        Crash.Hit("task.beforeAppend");
        using (_gate.Enter())
        {
            if (TryLogKept() && log.TryAppend(RecordKind.NondetResult, body, out _))
            {
                Crash.Hit("task.afterAppend");
                return true;
            }
            if (!log.IsShut || _keptBytes + body.Length > KeptBytesMax) return false;
            _kept.Enqueue(body.ToArray());
            _keptBytes += body.Length;
            return true;
        }
    }

    /// <summary>Logs what was kept, in its order; false: some of it still waits.</summary>
    public bool TryLog()
    {
        using (_gate.Enter()) return TryLogKept();
    }

    /// <summary>The next session's app begins the tasks again whose results are not in the log.</summary>
    public void SessionEnded()
    {
        using (_gate.Enter())
        {
            _kept.Clear();
            _keptBytes = 0;
        }
    }

    private bool TryLogKept()
    {
        while (_kept.TryPeek(out byte[]? next))
        {
            if (!log.TryAppend(RecordKind.NondetResult, next, out _)) return false;
            _kept.Dequeue();
            _keptBytes -= next.Length;
        }
        return true;
    }
}
