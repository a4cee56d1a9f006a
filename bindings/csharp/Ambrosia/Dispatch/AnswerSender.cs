using System.Buffers;
using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Messages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Quarantine;

namespace Ambrosia.Dispatch;

/// <summary>
/// Sends the outcome of calls to the immortals that made them, this one included: a result, or a failure with its stack (P4.4). A fork has
/// no caller; its failure goes to the fork policy. Thread: the scheduler's, inside a record.
/// </summary>
internal sealed class AnswerSender(ImmortalHost host, MessageSender sender, PeerTable peers, ForkFailures failures) : IReplies
{
    private readonly ArrayBufferWriter<byte> _extension = new(256);

    string IReplies.TypeName => host.TypeName;

    OutgoingMessage IReplies.Begin(scoped in IncomingMessage message) => Begin(message.Caller, message.CallId, message.Method);

    void IReplies.Send(OutgoingMessage result) => sender.Outbound.Commit();

    private OutgoingMessage Begin(InstanceId caller, ulong call, uint method)
    {
        sender.Outbound.Begin(sender.Destinations.Get(caller), MessageKind.Result);
        sender.Outbound.WriteVarint(method);
        sender.Outbound.WriteVarint(call);
        return new OutgoingMessage(sender.Outbound, call, method);
    }

    void IReplies.SendLater(Source handler, in IncomingMessage message)
    {
        if (!handler.IsDone)
        {
            sender.Scheduler.AnswersOwed++;
            handler.AwaitedBy(
                new OwedAnswer(handler, message.Origin, message.CallId, message.Method,
                    message.CallId == 0 ? failures.KeptOf(message) : null));
        }
        else if (handler.Error is { } failure) Fail(failure, message);
        else if (message.CallId != 0) Answer(handler, message.Caller, message.CallId, message.Method);
    }

    /// <summary>Answers the call whose handler was suspended and has finished.</summary>
    internal void Answer(OwedAnswer owed)
    {
        (Source handler, ulong call, uint method) = (owed.Handler, owed.Call, owed.Method);
        sender.Scheduler.AnswersOwed--;
        InstanceId caller = peers[owed.Caller];
        if (call == 0)
        {
            if (handler.Error is { } unheard) failures.FailedLate(owed.Kept, method, caller, unheard);
        }
        else if (caller == PeerTable.Forgotten) return; // whoever has its name now did not ask
        else if (handler.Error is { } failure) Fail(failure, caller, call, method);
        else Answer(handler, caller, call, method);
    }

    private void Answer(Source handler, InstanceId caller, ulong call, uint method)
    {
        try
        {
            OutgoingMessage result = Begin(caller, call, method);
            host.Started().Encode(new FinishedCall(handler, method), result);
            sender.Outbound.Commit();
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            Fail(BadResultException.Of(e, method), caller, call, method);
        }
    }

    internal void Fail(Exception failure, in IncomingMessage message)
    {
        if (message.CallId == 0) failures.Failed(message, failure);
        else Fail(failure, message.Caller, message.CallId, message.Method);
    }

    private void Fail(Exception failure, InstanceId caller, ulong call, uint method)
    {
        FailureInfo sent = FailureWording.Describe(failure);
        _extension.ResetWrittenCount();
        var writer = new PayloadWriter(_extension);
        new FailureStack(0, FailureCodec.StackOf(failure, sent)).Write(ref writer);
        writer.Flush();
        sender.Outbound.BeginAlone(sender.Destinations.Get(caller), MessageKind.Failure, _extension.WrittenSpan);
        sender.Outbound.WriteVarint(method);
        sender.Outbound.WriteVarint(call);
        FailureCodec.Write(sender.Outbound, sent);
        sender.Outbound.CommitAlone();
    }
}
