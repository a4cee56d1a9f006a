using System.Buffers;
using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Messages;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Quarantine;
using Ambrosia.Replay;

namespace Ambrosia.ClientCalls;

/// <summary>
/// Executes the calls of clients as the log holds them: decides which are new and which are asked again, and answers who asks. All replicas
/// make the answers; only a primary's coordinator sends them (protocol P10.6). Thread: the scheduler's, inside a record.
/// </summary>
internal sealed class ClientCallExecutor(
    ImmortalHost host, MessageSender sender, ReplayContext replay, PeerTable peers, ForkFailures failures) : IReplies
{
    private Destination? _last;

    /// <summary>The call whose handler runs.</summary>
    private OutsideCall? _executing;

    internal IdempotencyWindow Window { get; } = new();

    /// <summary>Executes a request, or an impulse, of a caller outside.</summary>
    internal void Execute(ClientRequestView request) =>
        Execute(request.ReadMessage(), index: 0, origin: 0, request.Session, request.Request);

    /// <summary>Executes a run of keyed impulses of immortals.</summary>
    internal void Execute(RunView run)
    {
        var reader = new MessageReader(run);
        uint count = run.First;
        for (; reader.Next(); count++) Execute(reader, count, run.Header.Peer, default, request: 0);
        IncomingMessage.CheckCount(run, count);
    }

    /// <param name="origin">Who called: a peer, or the instance itself for a caller outside, who has no name in the log.</param>
    private void Execute(in MessageReader message, uint index, uint origin, ClientSessionId session, ulong request)
    {
        Immortal immortal = host.Started();
        sender.Scheduler.MessageIndex = index;
        var incoming = new IncomingMessage(this, peers, origin)
        {
            Method = message.Method, Arguments = message.Arguments, IsFromOutside = true, Kind = MessageKind.Impulse,
            Place = new MessagePlace(new Lsn(replay.ExecutingLsn), index),
        };
        OutsideCall.Asker? asker = request == 0 ? null : new OutsideCall.Asker(session.Epoch.Value, session.Number, request);
        if (Admit(immortal, message, incoming, asker) is not { } call) return;
        _executing = call;
        try
        {
            immortal.Take(ref incoming);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            Fail(incoming.FailureOf(e), call, incoming);
        }
        sender.Scheduler.Drain();
    }

    /// <summary>
    /// Gives the call to execute. Null: its key is known, and who asks gets the answer that was made, or will be; or is refused, where the
    /// arguments are others.
    /// </summary>
    /// <param name="asker">Null: nobody waits.</param>
    private OutsideCall? Admit(Immortal immortal, in MessageReader message, in IncomingMessage incoming, OutsideCall.Asker? asker)
    {
        if (!message.IsKeyed) return Asked(new OutsideCall(message.Method, [], 0, 0, asker is not null), asker);
        ulong arguments = ChannelHash.Append(0, message.Arguments);
        if (!Window.TryFind(message.Method, message.Key, replay.KeyTimeUs, out OutsideCall? known))
        {
            var call = new OutsideCall(message.Method, message.Key.ToArray(), arguments, ReadHashOf(immortal, message), asker is not null);
            Window.Begin(call);
            return Asked(call, asker);
        }
        bool isSame = known.ArgumentsHash == arguments || (known.ReadHash != 0 && known.ReadHash == ReadHashOf(immortal, message));
        if (!isSame) Refuse(incoming, asker);
        else if (asker is { } again && known.IsDone) Send(again, known.Method, known.IsFailure, known.Answer);
        else Asked(known, asker);
        return null;
    }

    /// <summary>
    /// Returns the hash of the arguments as this build reads them, so that a caller whose build has an optional parameter or a field more
    /// is known again; 0 where they cannot be read.
    /// </summary>
    private static ulong ReadHashOf(Immortal immortal, in MessageReader message)
    {
        ScratchBuffer read = ScratchBuffer.Begin();
        try
        {
            if (!immortal.EncodeAgain(message.Method, message.Arguments, new OutgoingMessage(read))) return 0;
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            return 0; // the handler's own reading says what is wrong with them
        }
        return Math.Max(1, ChannelHash.Append(0, read.Written));
    }

    private static OutsideCall Asked(OutsideCall call, OutsideCall.Asker? asker)
    {
        if (asker is { } waiting) call.Askers.Add(waiting);
        return call;
    }

    /// <summary>Tells who asks that the key belongs to another request. Nobody is told of an impulse: it is counted.</summary>
    private void Refuse(in IncomingMessage message, OutsideCall.Asker? asker)
    {
        FailureInfo why = ListedFailures.KeyReused();
        if (asker is { } waiting)
        {
            ScratchBuffer value = ScratchBuffer.Begin();
            FailureCodec.Write(value, why);
            Send(waiting, message.Method, isFailure: true, value.Written);
        }
        else failures.Count(message, new InvalidOperationException(why.Message));
    }

    string IReplies.TypeName => host.TypeName;

    OutgoingMessage IReplies.Begin(scoped in IncomingMessage message) => new(ScratchBuffer.Begin());

    void IReplies.Send(OutgoingMessage result) => Finish(_executing!, result.Aside!.Written);

    void IReplies.SendLater(Source handler, in IncomingMessage message)
    {
        OutsideCall call = _executing!;
        if (!handler.IsDone)
        {
            sender.Scheduler.AnswersOwed++;
            handler.AwaitedBy(new OwedOutsideAnswer(handler, call, call.IsAwaited ? null : failures.KeptOf(message)));
        }
        else if (handler.Error is { } failure) Fail(failure, call, message);
        else Answer(handler, call);
    }

    /// <summary>Answers the call whose handler was suspended and has finished.</summary>
    internal void Answer(OwedOutsideAnswer owed)
    {
        (Source handler, OutsideCall call) = (owed.Handler, owed.Call);
        sender.Scheduler.AnswersOwed--;
        if (handler.Error is { } failure)
        {
            if (!call.IsAwaited) failures.FailedLate(owed.Kept, call.Method, peers.Self, failure);
            Fail(failure, call);
        }
        else Answer(handler, call);
    }

    private void Answer(Source handler, OutsideCall call)
    {
        try
        {
            ScratchBuffer value = ScratchBuffer.Begin();
            host.Started().Encode(new FinishedCall(handler, call.Method), new OutgoingMessage(value));
            Finish(call, value.Written);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            Fail(BadResultException.Of(e, call.Method), call);
        }
    }

    /// <summary>Tells the value of a handler to all who asked so far.</summary>
    /// <exception cref="InvalidOperationException">It is longer than a message may be; nothing has changed.</exception>
    internal void Finish(OutsideCall call, ReadOnlySpan<byte> value)
    {
        sender.Outbound.CheckMessage(value.Length + 2L * Varint.BytesMax);
        Finish(call, isFailure: false, value);
    }

    /// <summary>Fails a call at its message. Nobody is told of an impulse: the fork policy says what becomes of it.</summary>
    private void Fail(Exception failure, OutsideCall call, in IncomingMessage message)
    {
        if (!call.IsAwaited) failures.Failed(message, failure);
        Fail(failure, call);
    }

    /// <summary>Tells the failure, without its stack, to whoever asks.</summary>
    private void Fail(Exception failure, OutsideCall call)
    {
        FailureInfo sent = FailureWording.Describe(failure);
        if (call.IsAwaited) failures.Tell(call.Method, failure, sent);
        ScratchBuffer value = ScratchBuffer.Begin();
        FailureCodec.Write(value, sent);
        Finish(call, isFailure: true, value.Written);
    }

    private void Finish(OutsideCall call, bool isFailure, ReadOnlySpan<byte> answer)
    {
        call.Finish(isFailure, answer, replay.KeyTimeUs);
        foreach (OutsideCall.Asker asker in call.Askers) Send(asker, call.Method, isFailure, answer);
        call.Askers.Clear();
        if (call.Key.Length > 0) Window.Done(call);
    }

    private void Send(OutsideCall.Asker asker, uint method, bool isFailure, ReadOnlySpan<byte> answer)
    {
        MessageKind kind = isFailure ? MessageKind.ClientFailure : MessageKind.ClientAnswer;
        OutboundBuffer outbound = sender.Outbound;
        outbound.Begin(DestinationOf(asker.SessionId), kind, answer.Length + Varint.SizeOf(method) + Varint.SizeOf(asker.Request));
        outbound.WriteVarint(method);
        outbound.WriteVarint(asker.Request);
        outbound.Write(answer);
        outbound.Commit();
    }

    /// <summary>Gives the same object for the same session while nobody else is answered, so that its answers share a run.</summary>
    private Destination DestinationOf(ClientSessionId session) =>
        _last is not null && _last.Session == session ? _last : _last = Destination.Of(session);
}
