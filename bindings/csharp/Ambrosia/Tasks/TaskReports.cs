using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>The way of tasks' results to the coordinator (protocol P5.15), among the impulses: any thread.</summary>
internal sealed class TaskReports(ImpulseDoor door, OutboundBuffer outbound)
{
    internal long ResultBytesMax => outbound.MessageBytesMax;

    /// <summary>Waits while too much is unsent. Behind the session's end it is dropped: the next primary runs the task again.</summary>
    internal void Send(ulong task, bool failed, ReadOnlySpan<byte> result)
    {
        var payload = new ArrayBufferWriter<byte>(TaskResult.HeadBytes + result.Length);
        TaskResult.WriteHead(payload, task, failed);
        payload.Write(result);
        door.SendFrame(FrameType.TaskResult, payload.WrittenSpan);
    }
}
