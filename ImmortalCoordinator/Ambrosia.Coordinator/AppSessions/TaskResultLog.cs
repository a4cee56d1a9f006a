using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>Logs what the app's tasks have computed (protocol P5.15). The thread that reads the app.</summary>
/// <param name="messageBytesMax">Longest result that is taken.</param>
internal sealed class TaskResultLog(LogAppender log, uint messageBytesMax)
{
    /// <summary>False: no room in the log now; the same frame comes again.</summary>
    public bool TryAppend(ReadOnlySpan<byte> payload)
    {
        ReadOnlySpan<byte> body = TaskResult.Read(payload, messageBytesMax);
        Crash.Hit("task.beforeAppend");
        if (!log.TryAppend(RecordKind.NondetResult, body, out _)) return false;
        Crash.Hit("task.afterAppend");
        return true;
    }
}
