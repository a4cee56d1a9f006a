// What callers of other immortals, and of this one, are told of their calls: a result, or a failure with its stack.
// Thread: the scheduler's.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class Answers(ImmortalRuntime runtime)
{
    private readonly ArrayBufferWriter<byte> extension = new(256);

    internal OutgoingMessage Begin(InstanceId caller, ulong call, uint method)
    {
        runtime.Outbound.Begin(runtime.Destinations.Get(caller), MessageKind.Result);
        runtime.Outbound.WriteVarint(method);
        runtime.Outbound.WriteVarint(call);
        return new OutgoingMessage(runtime.Outbound, call, method);
    }

    internal void Later(Source handler, in IncomingMessage message)
    {
        if (!handler.IsDone)
        {
            runtime.Scheduler.AnswersOwed++;
            handler.AwaitedBy(
                new OwedAnswer(handler, message.Origin, message.CallId, message.Method,
                    message.CallId == 0 ? runtime.Forks.KeptOf(message) : null));
        }
        else if (handler.Error is { } failure) Fail(failure, message);
        else if (message.CallId != 0) Answer(handler, message.Caller, message.CallId, message.Method);
    }

    /// <summary>A suspended handler is finished.</summary>
    internal void Answer(Source handler, uint origin, ulong call, uint method, SetAsideMessage? kept)
    {
        runtime.Scheduler.AnswersOwed--;
        InstanceId caller = runtime.Origins[origin];
        if (call == 0)
        {
            if (handler.Error is { } unheard) runtime.Forks.FailedLate(kept, method, caller, unheard);
        }
        else if (caller == Origins.Forgotten) return; // whoever has its name now did not ask
        else if (handler.Error is { } failure) Fail(failure, caller, call, method);
        else Answer(handler, caller, call, method);
    }

    private void Answer(Source handler, InstanceId caller, ulong call, uint method)
    {
        try
        {
            OutgoingMessage result = Begin(caller, call, method);
            runtime.Started().Encode(new FinishedCall(handler, method), result);
            runtime.Outbound.Commit();
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            Fail(e, caller, call, method);
        }
    }

    internal void Fail(Exception failure, in IncomingMessage message)
    {
        if (message.CallId == 0) runtime.Forks.Failed(message, failure);
        else Fail(failure, message.Caller, message.CallId, message.Method);
    }

    private void Fail(Exception failure, InstanceId caller, ulong call, uint method)
    {
        extension.ResetWrittenCount();
        var writer = new PayloadWriter(extension);
        new FailureStack(0, Failures.StackOf(failure)).Write(ref writer);
        writer.Flush();
        runtime.Outbound.BeginAlone(runtime.Destinations.Get(caller), MessageKind.Failure, extension.WrittenSpan);
        runtime.Outbound.WriteVarint(method);
        runtime.Outbound.WriteVarint(call);
        Failures.Write(runtime.Outbound, failure);
        runtime.Outbound.CommitAlone();
    }
}
