// Calls from outside as an immortal meets them in its log: which are new, which are asked again, and who is told the answer. Replicas all
// make the answers; only a primary's coordinator sends them (protocol P10.6). Thread: the scheduler's.
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class OutsideCalls(ImmortalRuntime runtime)
{
    private Destination? last;

    internal IdempotencyWindow Window { get; } = new();

    /// <summary>A request, or an impulse, of a caller outside.</summary>
    internal void Execute(ClientRequestView request, ReadOnlyMemory<byte> body, ulong lsn)
    {
        runtime.ExecutingLsn = lsn;
        Execute(request.ReadMessage(), index: 0, request.Session, request.Request, body);
    }

    /// <summary>Keyed impulses of immortals.</summary>
    internal void Execute(RunView run, ReadOnlyMemory<byte> messages)
    {
        var reader = new MessageReader(run);
        uint count = 0;
        for (; reader.Next(); count++) Execute(reader, count, default, request: 0, messages);
        ImmortalRuntime.CheckCount(run.Header, count);
    }

    private void Execute(in MessageReader message, uint index, ClientSessionId session, ulong request, ReadOnlyMemory<byte> body)
    {
        Immortal immortal = runtime.Started();
        if (Admit(message, session, request) is not { } call) return;
        var incoming = new IncomingMessage(runtime, origin: 0, body)
        {
            Method = message.Method, Arguments = message.Arguments, Outside = call, Kind = MessageKind.Impulse,
            Place = new MessagePlace(new Lsn(runtime.ExecutingLsn), index),
        };
        try
        {
            immortal.Take(ref incoming);
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            Fail(e, call, incoming);
        }
        runtime.Scheduler.Drain();
    }

    /// <summary>The call to execute; null: its key is known, and who asks gets the answer that was made, or will be.</summary>
    /// <param name="request">0: nobody waits.</param>
    private OutsideCall? Admit(in MessageReader message, ClientSessionId session, ulong request)
    {
        bool isKeyed = message.IsKeyed;
        OutsideCall? call = null;
        bool isNew = !isKeyed || !Window.TryFind(message.Method, message.Key, runtime.Surroundings.NowUs, out call);
        if (isNew)
        {
            call = new OutsideCall(message.Method, isKeyed ? message.Key.ToArray() : [], request != 0);
            if (isKeyed) Window.Begin(call);
        }
        if (request != 0)
        {
            var asker = new OutsideCall.Asker(session.Epoch.Value, session.Number, request);
            if (call!.IsDone) Send(asker, call.Method, call.IsFailure, call.Answer);
            else call.Askers.Add(asker);
        }
        return isNew ? call : null;
    }

    internal void AnswerLater(Source handler, OutsideCall call, in IncomingMessage message)
    {
        if (!handler.IsDone)
        {
            runtime.Scheduler.AnswersOwed++;
            handler.AwaitedBy(new OwedOutsideAnswer(handler, call, call.IsAwaited ? null : runtime.Forks.KeptOf(message)));
        }
        else if (handler.Error is { } failure) Fail(failure, call, message);
        else Answer(handler, call);
    }

    /// <summary>A suspended handler is finished.</summary>
    internal void AnswerOwed(Source handler, OutsideCall call, SetAsideMessage? kept)
    {
        runtime.Scheduler.AnswersOwed--;
        if (handler.Error is { } failure)
        {
            if (!call.IsAwaited) runtime.Forks.FailedLate(kept, call.Method, runtime.Id, failure);
            Fail(failure, call);
        }
        else Answer(handler, call);
    }

    private void Answer(Source handler, OutsideCall call)
    {
        try
        {
            ScratchBuffer value = ScratchBuffer.Begin();
            runtime.Started().Encode(new FinishedCall(handler, call.Method), new OutgoingMessage(value));
            Finish(call, value.Written);
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            Fail(e, call);
        }
    }

    /// <summary>The handler has its value: all who asked so far are told.</summary>
    /// <exception cref="InvalidOperationException">It is longer than a message may be; nothing has changed.</exception>
    internal void Finish(OutsideCall call, ReadOnlySpan<byte> value)
    {
        runtime.Outbound.CheckMessage(value.Length + 2L * Varint.BytesMax);
        Finish(call, isFailure: false, value);
    }

    /// <summary>Nobody at all is told of an impulse: the fork policy says what becomes of it.</summary>
    private void Fail(Exception failure, OutsideCall call, in IncomingMessage message)
    {
        if (!call.IsAwaited) runtime.Forks.Failed(message, failure);
        Fail(failure, call);
    }

    /// <summary>Whoever asks is told, without the stack.</summary>
    private void Fail(Exception failure, OutsideCall call)
    {
        ScratchBuffer value = ScratchBuffer.Begin();
        Failures.Write(value, failure);
        Finish(call, isFailure: true, value.Written);
    }

    private void Finish(OutsideCall call, bool isFailure, ReadOnlySpan<byte> answer)
    {
        call.Finish(isFailure, answer, runtime.Surroundings.NowUs);
        foreach (OutsideCall.Asker asker in call.Askers) Send(asker, call.Method, isFailure, answer);
        call.Askers.Clear();
        if (call.Key.Length > 0) Window.Done(call);
    }

    private void Send(OutsideCall.Asker asker, uint method, bool isFailure, ReadOnlySpan<byte> answer)
    {
        MessageKind kind = isFailure ? MessageKind.ClientFailure : MessageKind.ClientAnswer;
        OutboundBuffer outbound = runtime.Outbound;
        outbound.Begin(DestinationOf(asker.SessionId), kind, answer.Length + Varint.SizeOf(method) + Varint.SizeOf(asker.Request));
        outbound.WriteVarint(method);
        outbound.WriteVarint(asker.Request);
        outbound.Write(answer);
        outbound.Commit();
    }

    /// <summary>The same object for the same session while nobody else is answered, so that its answers share a run.</summary>
    private Destination DestinationOf(ClientSessionId session) =>
        last is not null && last.Session == session ? last : last = Destination.Of(session);
}
